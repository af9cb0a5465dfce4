import { beginningOf } from '@ibid/markdown/analysis/stem.ts';
import { TITLE_WORD_PREFIX } from '@ibid/markdown/analysis/title-key.ts';
import { type ExtraTerm, isTellingPair, type Token } from '@ibid/markdown/analysis/tokenize.ts';
import type { ParsedQuery } from './parse-query.ts';

/**
 * How much a repeated word of a query adds: the third saturation of BM25 (Robertson and Walker, TREC-3). A word that
 * occurs three times in a long question weighs 2.5 times as much as another.
 */
const K3 = 8;

/**
 * Weight of the beginning of a long word, which finds its other forms. Turkish, Romanian and German gain from a weight
 * above 0.2.
 */
const BEGINNING_WEIGHT = 0.35;

/** Weight of the unstemmed spelling in titles: ranks "ListEntry" before "ListEntries". */
const TITLE_WORD_WEIGHT = 0.1;

/** In longer queries these terms would use up the limit on terms that are read. */
const MAX_WORDS_AS_WRITTEN = 12;
const MAX_WORDS_WITH_BEGINNINGS = 40;

/** Thai, Lao, Khmer and Burmese are written without spaces; segmented words say more than pairs of letters. */
const OF_WORDS_WITHOUT_SPACES = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const THAI_WORD_WEIGHT = 1.5;

const EXTRA_WEIGHTS: Readonly<Record<ExtraTerm['kind'], number>> = {
  accented: 0.5,
  spelled: 0.5,
  joined: 1,
  begun: 0,
  // A query for a name means the whole name, not its parts.
  part: 0,
  segment: 0.5,
  // In a query, a character is a word only if it stands alone.
  character: 0,
  'stop words': 0,
};

/**
 * Weight of a sequence of stop words in a query without other words: higher than the weight of each stop word in a
 * title.
 */
const STOP_WORDS_WEIGHT = 3;

/** Weight of two adjacent words joined into one, relative to each word. */
const JOINED_WEIGHT = 1;

/** Weight of the parts of a name that the wiki contains as a whole: "NODE_ENV" should not find a page titled "env". */
const PART_OF_NAME_WEIGHT = 0.15;
const NAME_WEIGHT = 2;

/** Raises known names and lowers their parts, unless the parts are also other words of the query. */
export function preferNames(
  weights: Map<string, number>,
  { words, names }: Pick<ParsedQuery, 'words' | 'names'>,
  isKnown: (term: string) => boolean,
): void {
  const known = names.filter(({ term }) => isKnown(term));
  const parts = new Map(known.flatMap((name) => name.parts.map((part) => [part.start, part])));
  const countOf = (tokens: Iterable<Token>, term: string) => [...tokens].filter((token) => token.term === term).length;
  for (const { word, term } of new Map([...parts.values()].map((part) => [part.term, part])).values()) {
    if (known.some((name) => name.term === term) || countOf(words, term) > countOf(parts.values(), term)) continue;
    for (const one of [term, TITLE_WORD_PREFIX + word, beginningOf(term) ?? '']) {
      const weight = weights.get(one);
      if (weight !== undefined) weights.set(one, weight * PART_OF_NAME_WEIGHT);
    }
  }
  for (const { term } of known) weights.set(term, Math.max(NAME_WEIGHT, weights.get(term) ?? 0));
}

/**
 * Returns the terms under which a sequence of stop words may be indexed. `telling`: the pairs that are indexed wherever
 * they occur.
 */
export function stopWordsInARow(words: readonly string[]): { pairs: string[]; telling: string[] } {
  const neighbours = words.slice(1).map((second, i) => [words[i] as string, second] as const);
  const telling = neighbours.filter(([first, second]) => isTellingPair(first, second));
  return { pairs: neighbours.map((pair) => pair.join('_')), telling: telling.map((pair) => pair.join('_')) };
}

/** Returns the terms to search for and their weights. */
export function weighTerms({ words, joined }: Pick<ParsedQuery, 'words' | 'joined'>): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (term: string, count: number) => counts.set(term, (counts.get(term) ?? 0) + count);
  // In a query of stop words only, their order is meaningful: "to be or not to be".
  const areStopWords = words.every(({ isStopWord }) => isStopWord);
  for (const { word, term, extra } of words) {
    add(term, 1);
    if (words.length <= MAX_WORDS_AS_WRITTEN) add(TITLE_WORD_PREFIX + word, TITLE_WORD_WEIGHT);
    const beginning = words.length <= MAX_WORDS_WITH_BEGINNINGS ? beginningOf(term) : undefined;
    if (beginning !== undefined) add(beginning, BEGINNING_WEIGHT);
    for (const one of extra) {
      const weight = areStopWords && one.kind === 'stop words' ? STOP_WORDS_WEIGHT : weightOf(one);
      if (weight > 0) add(one.term, weight);
    }
  }
  if (areStopWords && words.length <= MAX_WORDS_AS_WRITTEN) {
    for (const pair of stopWordsInARow(words.map(({ word }) => word)).pairs) if (!counts.has(pair)) add(pair, 1);
  }
  for (const term of joined) if (!counts.has(term)) add(term, JOINED_WEIGHT);
  for (const [term, count] of counts) counts.set(term, ((K3 + 1) * count) / (K3 + count));
  return counts;
}

function weightOf({ kind, term }: ExtraTerm): number {
  return kind === 'segment' && OF_WORDS_WITHOUT_SPACES.test(term) ? THAI_WORD_WEIGHT : EXTRA_WEIGHTS[kind];
}
