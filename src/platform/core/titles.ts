import { INVALID_IN_NAMES, VISIBLE } from '@ibid/markdown/clean-name.ts';
import { ApiError } from './errors.ts';

/** Trims a name. Returns 400 `invalid_name` if it cannot be shown on one line or is longer than 100 characters. */
export function readName(text: string): string | ApiError {
  return readLine(text, { code: 'invalid_name', what: 'A name', max: 100 });
}

/** Trims a title. Returns 400 `invalid_title` if it cannot be shown on one line or is longer than 255 characters. */
export function readTitle(text: string): string | ApiError {
  return readLine(text, { code: 'invalid_title', what: 'A title', max: 255 });
}

/** Normalizes a line to composed form (NFC), so that equal names are equal bytes, and validates it. */
function readLine(
  text: string,
  { code, what, max }: { code: 'invalid_name' | 'invalid_title'; what: string; max: number },
): string | ApiError {
  const line = text.normalize('NFC').trim();
  if (!VISIBLE.test(line)) return new ApiError(code, `${what} needs at least one letter, digit or symbol.`);
  if (INVALID_IN_NAMES.test(line)) {
    const reason = 'cannot have line breaks or characters that change the direction of text';
    return new ApiError(code, `${what} ${reason}. Type it again instead of pasting it.`);
  }
  if (characters(line) > max) return new ApiError(code, `${what} has at most ${max} characters.`);
  return line;
}

/** Counts code points, like the JSON schemas. */
function characters(text: string): number {
  return text.length <= 100 ? text.length : [...text].length;
}
