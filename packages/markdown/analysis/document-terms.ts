import { inflateRawSync } from 'node:zlib';
import { initialsOf, TITLE_WORD_PREFIX, titleKey } from './title-key.ts';
import { isUnspaced, tokenGroups, tokenize } from './tokenize.ts';

/**
 * The version of the analysis: of all code that decides the terms of a document and their impacts. A change to it
 * increments the version, with a migration that marks all search_wikis as stale, so that each wiki is reindexed once.
 */
export const ANALYSIS = 3;

/**
 * Text after this many characters is not indexed. Pages cannot be longer, because their Markdown has at most 1.5 MiB.
 */
const MAX_INDEXED_CHARACTERS = 1_600_000;

/** Sorts after every character of a word: the upper bound of a prefix search. */
export const PREFIX_END = '\u{10ffff}';

/** The index data of a text: words separated by spaces, so that SQL can search in them. */
export interface IndexedText {
  /**
   * Each term with its number of occurrences and, after "+", its number of secondary occurrences: " instal:2 acm:1+3 ".
   */
  terms: string;
  /** The unstemmed words, for corrections: " install installed acme ". */
  vocabulary: string;
}

/**
 * The value of a secondary occurrence in a count, exact in binary. Secondary occurrences, such as the parts of
 * camel-case names or stop words of a title, do not count for the length of a text.
 */
export const BESIDE = 2 ** -10;
const MAX_BESIDE = 2 ** 10 - 1;

/** Indexes all words of a title, stop words included. */
export function indexTitle(title: string): IndexedText {
  const counts = new Map<string, number>();
  const words = new Set<string>();
  for (const { term, isStopWord } of tokenize(title)) addCount(counts, term, isStopWord ? BESIDE : 1);
  addName(counts, words, title);
  return { terms: writeCounts(counts), vocabulary: writeWords(words) };
}

/** Adds the terms of a title or an alias other than its words' own: the words as typed, its key and its initials. */
export function addName(counts: Map<string, number>, words: Set<string>, name: string): void {
  let position = 0;
  // The count of a typed word is its position: suggestions prefer titles that begin with the word.
  const addTyped = (word: string) => {
    const typed = TITLE_WORD_PREFIX + word;
    if (!counts.has(typed)) counts.set(typed, (position += 1));
  };
  const tokens = [...tokenize(name)];
  const parts: string[] = [];
  for (const { word, extra } of tokens) {
    addWord(words, word);
    addTyped(word);
    for (const one of extra) {
      addCount(counts, one.term, BESIDE);
      if (one.kind === 'part' || one.kind === 'joined') parts.push(one.word);
    }
  }
  for (const part of parts) {
    addWord(words, part);
    addTyped(part);
  }
  const key = titleKey(name);
  if (key !== '') counts.set(key, 1);
  for (const initials of initialsOf(tokens)) addCount(counts, initials, BESIDE);
}

export function indexBody(text: string): IndexedText {
  const counts = new Map<string, number>();
  const words = new Set<string>();
  for (const tokens of tokenGroups(text.slice(0, MAX_INDEXED_CHARACTERS))) {
    for (const { word, term, isStopWord, extra } of tokens) {
      for (const one of extra) {
        addCount(counts, one.term, BESIDE);
        if (one.kind === 'joined') addWord(words, one.word);
      }
      if (isStopWord) continue;
      addCount(counts, term, 1);
      addWord(words, word);
    }
  }
  return { terms: writeCounts(counts), vocabulary: writeWords(words) };
}

export function addCount(counts: Map<string, number>, term: string, more: number): void {
  const count = counts.get(term) ?? 0;
  if (more === 1 || besideOf(count) < MAX_BESIDE) counts.set(term, count + more);
}

/** Returns how often a term occurs in a text as a word of its own. */
export function occurrencesOf(count: number): number {
  return Math.floor(count);
}

/** Returns the number of secondary occurrences of a term. */
export function besideOf(count: number): number {
  return (count - Math.floor(count)) / BESIDE;
}

const WORD = /^[\p{L}\p{M}]{3,32}$/u;

export function addWord(words: Set<string>, word: string): void {
  if (!words.has(word) && WORD.test(word) && !isUnspaced(word)) words.add(word);
}

export function writeCounts(counts: ReadonlyMap<string, number>): string {
  let text = ' ';
  for (const [term, count] of counts) {
    const beside = besideOf(count);
    text += `${term}:${occurrencesOf(count)}${beside > 0 ? `+${beside}` : ''} `;
  }
  return text;
}

export function writeWords(words: ReadonlySet<string>): string {
  return words.size === 0 ? '' : ` ${[...words].join(' ')} `;
}

export function readCounts(terms: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start < terms.length; ) {
    const space = terms.indexOf(' ', start);
    const end = space < 0 ? terms.length : space;
    const colon = end > start ? terms.lastIndexOf(':', end - 1) : -1;
    if (colon > start) counts.set(terms.slice(start, colon), readCount(terms, colon + 1, end));
    start = end + 1;
  }
  return counts;
}

const [ZERO, PLUS] = [48, 43];

/** Parses a count as written by `writeCounts`. */
function readCount(terms: string, from: number, to: number): number {
  let [whole, digits] = [0, 0];
  let isBeside = false;
  for (let at = from; at < to; at += 1) {
    const code = terms.charCodeAt(at);
    if (code === PLUS) {
      isBeside = true;
      whole = digits;
      digits = 0;
    } else digits = 10 * digits + code - ZERO;
  }
  return isBeside ? whole + BESIDE * digits : digits;
}

/** Inflates the terms of a text that was indexed before terms were stored in postings only. */
export function unpackTerms(bytes: Buffer): string {
  return inflateRawSync(bytes).toString();
}

export function readWords(vocabulary: string): string[] {
  return vocabulary.split(' ').filter((word) => word !== '');
}

/** Reverses a word: suffix searches are prefix searches for reversed words. */
export function reverseText(word: string): string {
  return [...word].reverse().join('');
}
