import { DOCUMENT_MAX, type RestOfFile } from '../extracted.ts';
import { countCharacters, type Loss, lostText } from '../losses.ts';

/** What a text may have in bytes of UTF-8, so that its Markdown is within the limit of a document. */
const TEXT_MAX = DOCUMENT_MAX - 2 ** 16;

/** A text with what of it and behind it is left out: its characters, and the loss, if there is any. */
export interface CutText {
  text: string;
  characters: number;
  losses: Loss[];
}

const NOTHING: RestOfFile = { lines: 0, characters: 0 };

/**
 * The beginning of a text that is longer than `max` bytes of UTF-8, up to the end of a line. `rest`: what of the file
 * follows the text.
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
  // One line: up to the last whole character.
  return bytes.toString('utf8').replace(/\ufffd+$/, '');
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
