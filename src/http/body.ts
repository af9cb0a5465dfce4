import { isUtf8 } from 'node:buffer';
import { ApiError } from '../core/errors.ts';

/** Deeper JSON is refused: no payload of the API needs it, and deep nesting can crash parsers. */
const DEPTH_MAX = 32;

/**
 * Decodes a JSON body. Errors: 400 for bad UTF-8, bad JSON, too deep nesting, NUL or a lone surrogate (which PostgreSQL
 * cannot store as text), and `__proto__` keys. An empty body is undefined. Of duplicate keys the last one counts.
 */
export function decodeJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new ApiError('invalid_request', 'The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  if (depthOf(text) > DEPTH_MAX) {
    throw new ApiError('invalid_request', `The body is nested deeper than ${DEPTH_MAX} levels.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ApiError('invalid_request', 'The body is not valid JSON.', { cause });
  }
  refuseUnstorable(value);
  return value;
}

/**
 * The nesting depth of brackets outside strings, counted before parsing, so that no recursion runs over hostile input.
 */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === 92) i += 1;
      else if (c === 34) inString = false;
    } else if (c === 34) inString = true;
    else if (c === 123 || c === 91) deepest = Math.max(deepest, ++depth);
    else if (c === 125 || c === 93) depth -= 1;
  }
  return deepest;
}

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) {
      throw new ApiError('invalid_request', 'A text in the body holds a NUL character or half of a surrogate pair.');
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw new ApiError('invalid_request', 'The key __proto__ is not allowed.');
    refuseUnstorable(key);
    refuseUnstorable(item);
  }
}

/** Whether PostgreSQL can store this text and return it unchanged. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
