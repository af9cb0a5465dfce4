import { ApiError } from './errors.ts';

/** Trims a name; returns 400 `invalid_name` if it is empty or longer than 100 characters. */
export function readName(text: string): string | ApiError {
  const name = text.trim();
  if (name === '') return new ApiError('invalid_name', 'A name needs at least one character that is not a space.');
  if (characters(name) > 100) return new ApiError('invalid_name', 'A name has at most 100 characters.');
  return name;
}

/** Trims a title; returns 400 `invalid_title` if it is empty or longer than 255 characters. */
export function readTitle(text: string): string | ApiError {
  const title = text.trim();
  if (title === '') return new ApiError('invalid_title', 'A title needs at least one character that is not a space.');
  if (characters(title) > 255) return new ApiError('invalid_title', 'A title has at most 255 characters.');
  return title;
}

/** Counts code points, as the schemas do. */
function characters(text: string): number {
  return text.length <= 100 ? text.length : [...text].length;
}
