import { inflateRawSync } from 'node:zlib';
import { initialsOf, TITLE_WORD_PREFIX, titleKey } from './title-key.ts';
import { isUnspaced, tokenGroups, tokenize } from './tokenize.ts';

/**
 * The version of everything that decides the terms of a document and their impacts. A change of it adds 1, and a migration
 * marks all search_wikis as stale, so that each wiki is indexed once more.
 */
export const ANALYSIS = 3;

/** Text after this many characters is not indexed: more than a page can have, as its Markdown has 1.5 MiB at most. */
const MAX_INDEXED_CHARACTERS = 1_600_000;

/** Sorts after every character of a word: the upper bound of a prefix search. */
export const PREFIX_END = '\u{10ffff}';

/** The index data of a text: words separated by spaces, so that SQL can search in them. */
export interface IndexedText {
  /** Each term with its number of occurrences, and behind "+" how often it only is beside others: " instal:2 acm:1+3 ". */
  terms: string;
  /** The unstemmed words, for corrections: " install installed acme ". */
  vocabulary: string;
}

/**
 * Terms that are beside words, as the parts of camel-case names, and stop words do not count for the length of a text. A
 * count is the number of occurrences plus this for each such one, which is exact in binary.
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

/** Adds the terms that a title or an alias has beside those of its words: the words as typed, its key and its initials. */
export function addName(counts: Map<string, number>, words: Set<string>, name: string): void {
  let position = 0;
  // The count of such a word is its position: suggestions prefer titles that begin with it.
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

/** How often a term is in a text as a word of its own. */
export function occurrencesOf(count: number): number {
  return Math.floor(count);
}

/** How often it is only beside other words. */
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

/** A count as `writeCounts` writes it. */
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

/** The terms of a text as the index kept them before its postings were in segments. */
export function unpackTerms(bytes: Buffer): string {
  return inflateRawSync(bytes).toString();
}

export function readWords(vocabulary: string): string[] {
  return vocabulary.split(' ').filter((word) => word !== '');
}

/** Reversed words make suffix searches prefix searches. */
export function reverseText(word: string): string {
  return [...word].reverse().join('');
}
