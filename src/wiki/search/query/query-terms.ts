import { beginningOf } from '@ibid/markdown/analysis/stem.ts';
import { TITLE_WORD_PREFIX } from '@ibid/markdown/analysis/title-key.ts';
import { type ExtraTerm, isTellingPair, type Token } from '@ibid/markdown/analysis/tokenize.ts';
import type { ParsedQuery } from './parse-query.ts';

/**
 * How much a repeated word of a query adds: the third saturation of BM25 (Robertson and Walker, TREC-3). A word that
 * stands three times in a long question weighs 2.5 times as much as another.
 */
const K3 = 8;

/** The weight of the beginning of a long word, by which its other forms are found. Turkish, Romanian and German gain by more than .2. */
const BEGINNING_WEIGHT = 0.35;

/** The weight of a word as it is written in a title: "ListEntry" before "ListEntries". */
const TITLE_WORD_WEIGHT = 0.1;

/** In longer queries they would take the place of words among the terms that are read. */
const MAX_WORDS_AS_WRITTEN = 12;
const MAX_WORDS_WITH_BEGINNINGS = 40;

/** Thai, Lao, Khmer and Burmese write no spaces: there the words that are found say more than pairs of letters. */
const OF_WORDS_WITHOUT_SPACES = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const THAI_WORD_WEIGHT = 1.5;

const EXTRA_WEIGHTS: Readonly<Record<ExtraTerm['kind'], number>> = {
  accented: 0.5,
  spelled: 0.5,
  joined: 1,
  begun: 0,
  // Who asks for a name means the name, not its parts.
  part: 0,
  segment: 0.5,
  // In a query only a character that stands alone is a word.
  character: 0,
  'stop words': 0,
};

/** The weight of stop words in a row, where nothing else is asked for: more than that of each of them in a title. */
const STOP_WORDS_WEIGHT = 3;

/** The weight of what two neighbouring words are as one, relative to each of them. */
const JOINED_WEIGHT = 1;

/** The weight of the parts of a name that the wiki has as a whole: "NODE_ENV" is meant, not what is titled "env". */
const PART_OF_NAME_WEIGHT = 0.15;
const NAME_WEIGHT = 2;

/** Raises the names that are known, and lowers their parts, unless these are other words of the query too. */
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

/** The terms that the index may have for stop words in a row. */
export function stopWordsInARow(words: readonly string[]): { pairs: string[]; telling: string[] } {
  const neighbours = words.slice(1).map((second, i) => [words[i] as string, second] as const);
  const telling = neighbours.filter(([first, second]) => isTellingPair(first, second));
  return { pairs: neighbours.map((pair) => pair.join('_')), telling: telling.map((pair) => pair.join('_')) };
}

/** The terms that a query's words are looked for by, with their weights. */
export function weighTerms({ words, joined }: Pick<ParsedQuery, 'words' | 'joined'>): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (term: string, count: number) => counts.set(term, (counts.get(term) ?? 0) + count);
  // Where nothing else is asked for, the order of stop words says something: "to be or not to be".
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
