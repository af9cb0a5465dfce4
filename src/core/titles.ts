import { ApiError } from './errors.ts';

/** Trims a name; 400 `invalid_name` where nothing is left or it is longer than 100 characters. */
export function readName(text: string): string | ApiError {
  const name = text.trim();
  if (name === '') return new ApiError('invalid_name', 'A name needs at least one character that is not a space.');
  if (characters(name) > 100) return new ApiError('invalid_name', 'A name has at most 100 characters.');
  return name;
}

/** Trims a title; 400 `invalid_title` where nothing is left or it is longer than 255 characters. */
export function readTitle(text: string): string | ApiError {
  const title = text.trim();
  if (title === '') return new ApiError('invalid_title', 'A title needs at least one character that is not a space.');
  if (characters(title) > 255) return new ApiError('invalid_title', 'A title has at most 255 characters.');
  return title;
}

/** As the schemas count them: an emoji is one character, not two. */
function characters(text: string): number {
  return text.length <= 100 ? text.length : [...text].length;
}
