import { inflateRawSync } from 'node:zlib';
import { isUnspaced, tokenGroups, tokenize } from './tokenize.ts';

/**
 * The version of everything that decides the terms of a document and their impacts. A change of it adds 1, and a migration
 * marks all search_wikis as stale, so that each wiki is indexed once more.
 */
export const ANALYSIS = 2;

/** Text after this many characters is not indexed: more than a page can have, as its Markdown has 1.5 MiB at most. */
export const MAX_INDEXED_CHARACTERS = 1_600_000;

/** The prefix of unstemmed title words in the index, which are used for suggestions while a query is typed. */
export const TITLE_WORD_PREFIX = '^';

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
const BESIDE = 2 ** -10;
const MAX_BESIDE = 2 ** 10 - 1;

/** Indexes all words of a title, stop words included. */
export function indexTitle(title: string): IndexedText {
  const counts = new Map<string, number>();
  const words = new Set<string>();
  let position = 0;
  // The count of such a word is its position: suggestions prefer titles that begin with it.
  const addTyped = (word: string) => {
    const typed = TITLE_WORD_PREFIX + word;
    if (!counts.has(typed)) counts.set(typed, (position += 1));
  };
  const names: string[] = [];
  for (const { word, term, isStopWord, extra } of tokenize(title)) {
    addCount(counts, term, isStopWord ? BESIDE : 1);
    addWord(words, word);
    addTyped(word);
    for (const one of extra) {
      addCount(counts, one.term, BESIDE);
      if (one.kind === 'part' || one.kind === 'joined') names.push(one.word);
    }
  }
  for (const name of names) {
    addWord(words, name);
    addTyped(name);
  }
  return { terms: writeCounts(counts), vocabulary: writeWords(words) };
}

/** What a page has beside the words of its text. */
export interface PageStructure {
  outline: readonly { level: number; text: string }[];
  /** Safe HTML, as it is shown. */
  html: string;
}

/** A word of a heading counts this much more than one of a text, as words that are beside others do. */
const HEADING_WORTH = 4;
/** How many addresses of a page are found by their words, and how much of each. */
const MAX_ADDRESSES = 300;
const MAX_ADDRESS = 200;

/**
 * The index data of a page from that of its text: the words of headings count more, and those of the addresses that links lead to
 * are found. Neither makes the text longer.
 */
export function withStructure(body: IndexedText, { outline, html }: PageStructure): IndexedText {
  // The first one is the title of the page in most texts.
  const headings = outline.slice(outline[0]?.level === 1 ? 1 : 0);
  const addresses = addressesIn(html);
  if (headings.length + addresses.length === 0) return body;
  const counts = readCounts(body.terms);
  for (const { text } of headings) {
    for (const { term, isStopWord } of tokenize(text)) {
      if (isStopWord) continue;
      for (let i = 0; i < HEADING_WORTH; i += 1) addCount(counts, term, BESIDE);
    }
  }
  for (const address of addresses) {
    for (const { term, isStopWord } of tokenize(address)) if (!isStopWord) addCount(counts, term, BESIDE);
  }
  return { ...body, terms: writeCounts(counts) };
}

/** The addresses outside of the wiki that links lead to, each once, without what all of them begin with. */
function addressesIn(html: string): string[] {
  const addresses = new Set<string>();
  for (const [, address = ''] of html.matchAll(/<a href="https?:\/\/(?:www\.)?([^"]+)"/g)) {
    if (addresses.size >= MAX_ADDRESSES) break;
    addresses.add(address.slice(0, MAX_ADDRESS).replaceAll('&#x26;', '&').replaceAll('&amp;', '&'));
  }
  return [...addresses];
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

function addCount(counts: Map<string, number>, term: string, more: number): void {
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

function addWord(words: Set<string>, word: string): void {
  if (!words.has(word) && WORD.test(word) && !isUnspaced(word)) words.add(word);
}

function writeCounts(counts: ReadonlyMap<string, number>): string {
  let text = ' ';
  for (const [term, count] of counts) {
    const beside = besideOf(count);
    text += `${term}:${occurrencesOf(count)}${beside > 0 ? `+${beside}` : ''} `;
  }
  return text;
}

function writeWords(words: ReadonlySet<string>): string {
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
