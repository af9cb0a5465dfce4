import { camelCaseParts, isUnspaced, termOf, tokenize } from './tokenize.ts';

/** Text after this many characters is not indexed: more than a page can have, as its Markdown has 1.5 MiB at most. */
export const MAX_INDEXED_CHARACTERS = 1_600_000;

/** The prefix of unstemmed title words in the index, which are used for suggestions while a query is typed. */
export const TITLE_WORD_PREFIX = '^';

/** Sorts after every character of a word: the upper bound of a prefix search. */
export const PREFIX_END = '\u{10ffff}';

/** The index data of a text: words separated by spaces, so that SQL can search in them. */
export interface IndexedText {
  /** Each term with the number of its occurrences: " instal:2 acm:1 ". */
  terms: string;
  /** The unstemmed words, for corrections: " install installed acme ". */
  vocabulary: string;
}

/** Indexes all words of a title, stop words included, and the parts of camel-case names. */
export function indexTitle(title: string): IndexedText {
  const counts = new Map<string, number>();
  const words = new Set<string>();
  const add = (term: string) => counts.set(term, (counts.get(term) ?? 0) + 1);
  let position = 0;
  for (const { word, term } of tokenize(title)) {
    add(term);
    addWord(words, word);
    // The count of such a word is its position: suggestions prefer titles that begin with it.
    const typed = TITLE_WORD_PREFIX + word;
    if (!counts.has(typed)) counts.set(typed, (position += 1));
  }
  for (const part of camelCaseParts(title)) {
    add(termOf(part));
    addWord(words, part);
    if (!counts.has(TITLE_WORD_PREFIX + part)) counts.set(TITLE_WORD_PREFIX + part, (position += 1));
  }
  return { terms: writeCounts(counts), vocabulary: writeWords(words) };
}

export function indexBody(text: string): IndexedText {
  const counts = new Map<string, number>();
  const words = new Set<string>();
  for (const { word, term, isStopWord } of tokenize(text.slice(0, MAX_INDEXED_CHARACTERS))) {
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

/** Reversed words make suffix searches prefix searches. */
export function reverseText(word: string): string {
  return [...word].reverse().join('');
}
