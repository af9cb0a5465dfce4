import { isUtf8 } from 'node:buffer';
import { ApiError, validationError } from '../core/errors.ts';

/**
 * Maximum nesting. No payload of the API needs more, and deep nesting can overflow the stack of recursive checks such
 * as `refuseUnstorable`.
 */
const DEPTH_MAX = 32;

/**
 * Maximum number of values. The longest list of the API has 10,000 items of four fields. Decoded values take up to a
 * hundred times the memory of their text, and block other requests.
 */
export const VALUES_MAX = 50_000;

/**
 * Decodes a JSON body. Returns undefined for an empty body. Throws 400 for invalid UTF-8 or JSON, nesting that is too
 * deep, NUL characters and lone surrogates (which PostgreSQL cannot store as text), and `__proto__` keys; 422 for more
 * than `most` values. Of duplicate keys the last wins.
 */
export function decodeJson(bytes: Buffer, most = VALUES_MAX): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new ApiError('invalid_request', 'The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  const { depth, values } = sizeOf(text, most);
  if (depth > DEPTH_MAX) {
    throw new ApiError('invalid_request', `The body is nested deeper than ${DEPTH_MAX} levels.`);
  }
  if (values > most) {
    const msg = `Value error, the body should hold at most ${most} values`;
    throw validationError([{ type: 'value_error', loc: ['body'], msg, input: null }]);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ApiError('invalid_request', 'The body is not valid JSON.', { cause });
  }
  // In UTF-8 these can only be written as escapes.
  if (text.includes('\\u') || text.includes('__proto__')) refuseUnstorable(value);
  return value;
}

/**
 * Counts the nesting depth and (at least) the number of values, without recursion over hostile input. Stops at the
 * first limit that is exceeded.
 */
function sizeOf(text: string, most: number): { depth: number; values: number } {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let i = 0; i < text.length && deepest <= DEPTH_MAX && values <= most; i += 1) {
    const c = text.charCodeAt(i);
    if (c === 34) i = endOfString(text, i + 1);
    else if (c === 44) values += 1;
    else if (c === 123 || c === 91) deepest = Math.max(deepest, ++depth);
    else if (c === 125 || c === 93) depth -= 1;
  }
  return { depth: deepest, values };
}

/**
 * Returns the index of the closing quotation mark of a string: the first mark after an even number of backslashes.
 * `start` is the index after the opening mark.
 */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 92) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) {
      throw new ApiError('invalid_request', 'A text in the body contains a NUL character or an unpaired surrogate.');
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) refuseUnstorable(item);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw new ApiError('invalid_request', 'The key __proto__ is not allowed.');
    refuseUnstorable(key);
    refuseUnstorable((value as Record<string, unknown>)[key]);
  }
}

/** Returns whether PostgreSQL can store this text and return it unchanged. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
