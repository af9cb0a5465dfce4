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

/** What a page has beside the words of its text. */
export interface PageStructure {
  outline: readonly { level: number; text: string }[];
  /** Safe HTML, as it is shown. */
  html: string;
  tags: readonly string[];
  description: string;
  properties: readonly { name: string; value: string }[];
}

/** The extra occurrences that a word counts for in a heading, and in another name of the page. */
const HEADING_WORTH = 4;
const ALIAS_WORTH = 8;

/** The number of addresses of a page that are indexed, and how much of each. */
const MAX_ADDRESSES = 300;
const MAX_ADDRESS = 200;

/** The characters of a description at most. */
export const DESCRIPTION_MAX = 300;
/** A description that is cut has no fewer: half a character and the space before it are left out. */
const SHORTEST_CUT = DESCRIPTION_MAX - 2;

/** How much of a text is looked through for its description. */
const BEGINNING = 2_000;

/** What a description adds to a text that does not begin with it: nothing ("") where it is the first paragraph. */
export function addedDescription(description: string, text: string): string {
  return text.slice(0, BEGINNING).replace(/\s+/g, ' ').includes(description) ? '' : description;
}

/** Properties that hold other names of the page. */
const ALIASES = /^alias(?:es)?$/i;

/**
 * The index data of a page from that of its text: the words of headings count more; the words of link addresses and of the front
 * matter, and the stop words of code are found. Nothing of it makes the text longer.
 */
export function withStructure(body: IndexedText, page: PageStructure): IndexedText {
  // The first heading is the title of the page in most texts.
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

/** Adds the words of a text that the page does not have elsewhere, but none that the text is cut in. */
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

/** Keywords of programming languages that are stop words of English. */
function stopWordsInCode(html: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, code = ''] of html.matchAll(CODE)) {
    for (const [word] of code.replace(TAG, ' ').matchAll(LOWER_CASE_WORD)) if (STOP_WORDS.has(word)) found.add(word);
  }
  return found;
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
