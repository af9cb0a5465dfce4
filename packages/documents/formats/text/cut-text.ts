import { DOCUMENT_MAX, type RestOfFile } from '../extracted.ts';
import { countCharacters, type Loss, lostText } from '../losses.ts';

/** The limit of a text in bytes of UTF-8, such that its Markdown is within the limit of a document. */
const TEXT_MAX = DOCUMENT_MAX - 2 ** 16;

/** A truncated text, with the number of omitted characters and the loss, if any. */
export interface CutText {
  text: string;
  characters: number;
  losses: Loss[];
}

const NOTHING: RestOfFile = { lines: 0, characters: 0 };

/**
 * Truncates a text that is longer than `max` bytes of UTF-8 at the end of a line. `rest`: the unread rest of the file
 * after the text.
 */
export function cutText(whole: string, rest = NOTHING, max = DOCUMENT_MAX): CutText {
  const text = Buffer.byteLength(whole) <= max ? whole : beginningOf(whole);
  const left = whole.slice(text.length);
  const characters = countCharacters(left) + rest.characters;
  if (characters === 0) return { text, characters, losses: [] };
  const first = linesIn(text) + 1;
  const last = first + linesIn(left) + rest.lines - (left.endsWith('\n') || left === '' ? 1 : 0);
  const place = `lines ${first.toLocaleString('en')} to ${Math.max(first, last).toLocaleString('en')}`;
  return { text, characters, losses: [{ ...lostText('cut_text', left.slice(0, 200), place), characters }] };
}

function beginningOf(whole: string): string {
  const bytes = Buffer.from(whole.slice(0, TEXT_MAX)).subarray(0, TEXT_MAX);
  const newline = bytes.lastIndexOf(10);
  if (newline >= 0) return bytes.toString('utf8', 0, newline + 1);
  // A single line is cut after the last whole character.
  return bytes.toString('utf8').replace(/\ufffd+$/, '');
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
