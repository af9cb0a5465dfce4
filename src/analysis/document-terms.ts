import { camelCaseParts, isUnspaced, termOf, tokenize } from './tokenize.ts';

/** What is beyond this many characters of a text is not searched. */
export const SEARCHED_CHARACTERS = 250_000;

/** Before a word of a title as it is written, which suggestions are found by while it is typed. */
export const TITLE_WORD = '^';

/** Comes after every character that a word may go on with. */
export const AFTER_ALL = '\u{10ffff}';

/** What the index needs of a text. Both are words between spaces, so that the database can look into them. */
export interface IndexedText {
  /** Each term and how often it stands there: " instal:2 acm:1 ". */
  terms: string;
  /** The words as they are written, for corrections: " install installed acme ". */
  vocabulary: string;
}

/** A title is found by all of its words, also those that say little, and by the parts of names of code. */
export function indexTitle(title: string): IndexedText {
  const counts = new Map<string, number>();
  const words = new Set<string>();
  const add = (term: string) => counts.set(term, (counts.get(term) ?? 0) + 1);
  let place = 0;
  for (const { word, term } of tokenize(title)) {
    add(term);
    addWord(words, word);
    // The count of such a word is its place, because a title that begins with it is meant sooner.
    const typed = TITLE_WORD + word;
    if (!counts.has(typed)) counts.set(typed, (place += 1));
  }
  for (const part of camelCaseParts(title)) {
    add(termOf(part));
    addWord(words, part);
    if (!counts.has(TITLE_WORD + part)) counts.set(TITLE_WORD + part, (place += 1));
  }
  return { terms: writeCounts(counts), vocabulary: writeWords(words) };
}

export function indexBody(text: string): IndexedText {
  const counts = new Map<string, number>();
  const words = new Set<string>();
  for (const { word, term, isStopWord } of tokenize(text.slice(0, SEARCHED_CHARACTERS))) {
    if (isStopWord) continue;
    counts.set(term, (counts.get(term) ?? 0) + 1);
    addWord(words, word);
  }
  return { terms: writeCounts(counts), vocabulary: writeWords(words) };
}

const WORD = /^[\p{L}\p{M}]{3,32}$/u;

function addWord(words: Set<string>, word: string): void {
  if (!words.has(word) && WORD.test(word) && !isUnspaced(word)) words.add(word);
}

function writeCounts(counts: ReadonlyMap<string, number>): string {
  let text = ' ';
  for (const [term, count] of counts) text += `${term}:${count} `;
  return text;
}

function writeWords(words: ReadonlySet<string>): string {
  return words.size === 0 ? '' : ` ${[...words].join(' ')} `;
}

export function readCounts(terms: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of terms.split(' ')) {
    const colon = entry.lastIndexOf(':');
    if (colon > 0) counts.set(entry.slice(0, colon), Number(entry.slice(colon + 1)));
  }
  return counts;
}

export function readWords(vocabulary: string): string[] {
  return vocabulary.split(' ').filter((word) => word !== '');
}

/** By its letters backwards a word is found by its end. */
export function backwards(word: string): string {
  return [...word].reverse().join('');
}
