import {
  addCount,
  addName,
  addWord,
  BESIDE,
  type IndexedText,
  readCounts,
  readWords,
  writeCounts,
  writeWords,
} from './document-terms.ts';
import { STOP_WORDS } from './stop-words.ts';
import { tokenize } from './tokenize.ts';

/** The parts of a page that are indexed in addition to its text. */
export interface PageStructure {
  outline: readonly { level: number; text: string }[];
  /** Safe HTML, as shown. */
  html: string;
  tags: readonly string[];
  description: string;
  properties: readonly { name: string; value: string }[];
}

/** Secondary occurrences that a word counts for in a heading, and in an alias of the page. */
const HEADING_WORTH = 4;
const ALIAS_WORTH = 8;

/** How many addresses of a page are indexed, and how many characters of each. */
const MAX_ADDRESSES = 300;
const MAX_ADDRESS = 200;

/** The maximum length of a description in characters. */
export const DESCRIPTION_MAX = 300;
/** A truncated description is at least this long: half a character and the space before it are left out. */
const SHORTEST_CUT = DESCRIPTION_MAX - 2;

/** How many characters of a text are searched for its description. */
const BEGINNING = 2_000;

/**
 * Returns the description for indexing; "" if the text begins with it, as it does if the description is the first
 * paragraph.
 */
export function addedDescription(description: string, text: string): string {
  return text.slice(0, BEGINNING).replace(/\s+/g, ' ').includes(description) ? '' : description;
}

/** Properties that hold aliases of the page. */
const ALIASES = /^alias(?:es)?$/i;

/**
 * Adds the structure of a page to the index data of its text. Words of headings count more. Words of link addresses and
 * of the front matter, and stop words in code, become searchable. None of these add to the length of the text.
 */
export function withStructure(body: IndexedText, page: PageStructure): IndexedText {
  // The first heading usually is the title of the page.
  const headings = page.outline.slice(page.outline[0]?.level === 1 ? 1 : 0).map(({ text }) => text);
  const keywords = stopWordsInCode(page.html);
  const addresses = addressesIn(page.html);
  const aliases = page.properties.filter(({ name }) => ALIASES.test(name)).flatMap(({ value }) => value.split(','));
  const values = page.properties.filter(({ name }) => !ALIASES.test(name)).map(({ value }) => value);
  const added = [...headings, ...addresses, ...page.tags, page.description, ...aliases, ...values];
  if (keywords.size === 0 && added.every((text) => text === '')) return body;
  const counts = readCounts(body.terms);
  const words = new Set(readWords(body.vocabulary));
  for (const text of [page.description, ...values, ...page.tags]) addMissing(counts, words, text);
  for (const text of headings) addWords(counts, text, HEADING_WORTH);
  for (const address of addresses) addWords(counts, address, 1);
  for (const alias of aliases) {
    addWords(counts, alias, ALIAS_WORTH);
    addName(counts, words, alias);
  }
  for (const word of keywords) addCount(counts, word, BESIDE);
  return { terms: writeCounts(counts), vocabulary: writeWords(words) };
}

function addWords(counts: Map<string, number>, text: string, worth: number): void {
  for (const { term, isStopWord } of tokenize(text)) {
    for (let i = 0; i < worth && !isStopWord; i += 1) addCount(counts, term, BESIDE);
  }
}

/** Adds the words of a text that the page does not contain elsewhere, except a word that was truncated. */
function addMissing(counts: Map<string, number>, words: Set<string>, text: string): void {
  const whole = text.length < SHORTEST_CUT ? text.length + 1 : text.length;
  const missing = [...tokenize(text)].filter(
    ({ term, isStopWord, end }) => !isStopWord && end < whole && !counts.has(term),
  );
  for (const { word, term, extra } of missing) {
    addCount(counts, term, BESIDE);
    addWord(words, word);
    for (const one of extra) addCount(counts, one.term, BESIDE);
  }
}

const CODE = /<code[^>]*>([\s\S]*?)<\/code>/g;
const TAG = /<[^>]*>/g;
const LOWER_CASE_WORD = /[a-z]{2,10}/g;

/** Returns the keywords of programming languages that are English stop words. */
function stopWordsInCode(html: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, code = ''] of html.matchAll(CODE)) {
    for (const [word] of code.replace(TAG, ' ').matchAll(LOWER_CASE_WORD)) if (STOP_WORDS.has(word)) found.add(word);
  }
  return found;
}

/** Returns the external addresses of links, each once, without scheme and "www.". */
function addressesIn(html: string): string[] {
  const addresses = new Set<string>();
  for (const [, address = ''] of html.matchAll(/<a href="https?:\/\/(?:www\.)?([^"]+)"/g)) {
    if (addresses.size >= MAX_ADDRESSES) break;
    addresses.add(address.slice(0, MAX_ADDRESS).replaceAll('&#x26;', '&').replaceAll('&amp;', '&'));
  }
  return [...addresses];
}
