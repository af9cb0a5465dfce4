import { STOP_WORDS } from '@ibid/markdown/analysis/stop-words.ts';
import { titleKey } from '@ibid/markdown/analysis/title-key.ts';
import { isUnspaced, type Token, termOf, tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import type { Index } from '../index/pending.ts';
import { isCharacter, suggestWords, type WordSuggestion } from './correct-words.ts';
import type { ParsedQuery } from './parse-query.ts';
import { readIndex, recallIndex } from './postings/read-index.ts';
import { preferNames, stopWordsInARow, weighTerms } from './query-terms.ts';
import type { IndexData, PendingDocument, RankingQuery } from './rank.ts';

/** Weight of a completion of the last word, relative to a typed word. */
const COMPLETION_WEIGHT = 0.5;

/** The weighted terms of a query, and the index data for them. */
export interface ResolvedQuery {
  data: IndexData;
  ranking: RankingQuery;
  /** Unknown words and their most likely corrections. */
  corrected: ReadonlyMap<string, string>;
  /** The corrections of typing errors only. */
  mistyped: ReadonlyMap<string, string>;
  /** The words of the query, with corrections in place of unknown words. */
  words: readonly Token[];
  /** Whether `data` is from the cache. Results are then valid only if the index still has its state. */
  isRecalled: boolean;
}

/** Longer queries are texts; no document contains all their words. */
const COORDINATED_MAX = 10;

/**
 * Returns no terms for scripts without spaces: their overlapping pairs of letters already tell how much of a word a
 * document contains.
 */
function coordinatedBy(words: readonly Token[]): string[] {
  const terms = [...new Set(words.map(({ term }) => term))];
  return terms.length > COORDINATED_MAX || terms.some(isUnspaced) ? [] : terms;
}

/**
 * Returns lists of terms required by phrases, titles, `+` and AND: a document must contain all terms of at least one
 * list.
 */
export function requiredBy({ words, phrases, arePhrasesRequired, titles, required }: ParsedQuery): string[][] {
  const searched = new Set(words.map(({ term }) => term));
  const inPhrases = arePhrasesRequired ? phrases.map((phrase) => termsOfPhrase(phrase, searched)) : [];
  const titled = titles.length > 0 ? [[titles]] : [];
  const explicit = required.length > 0 ? [required] : [];
  const all = [...titled, ...inPhrases, ...explicit].reduce<string[][]>(
    (lists, more) =>
      lists.flatMap((list) => more.map((terms) => [...new Set([...list, ...terms])])).slice(0, MAX_LISTS),
    [[]],
  );
  return all.some((list) => list.length === 0) ? [] : all;
}

/** Each phrase of stop words has two lists, so that several phrases multiply. */
const MAX_LISTS = 64;

/**
 * Returns lists of terms such that a document with the phrase contains one list. Stop words are indexed in titles, but
 * in texts only in certain sequences; a phrase with other stop words is verified in the text.
 */
function termsOfPhrase(phrase: readonly string[], searched: ReadonlySet<string>): string[][] {
  const four = [...tokenize(phrase.join(' '))]
    .flatMap(({ extra }) => extra.filter(({ kind }) => kind === 'stop words'))
    .map(({ term }) => term)
    .filter((term) => term.split('_').length > 2);
  const termsOf = (some: readonly string[]) => some.map(termOf).filter((term) => searched.has(term));
  if (four.length > 0) return [[...four, ...termsOf(phrase.filter((word) => !STOP_WORDS.has(word)))]];
  const words = termsOf(phrase);
  if (words.length < 2 || !phrase.every((word) => STOP_WORDS.has(word))) return [words];
  const { pairs, telling } = stopWordsInARow(phrase);
  return [telling.length > 0 ? telling : pairs, words];
}

/**
 * Reads the index data for the words of a query and for the suggestions for unknown words. Uses the cache
 * if `lastView` is given and it has all data.
 */
export async function resolveQuery(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  /** The view of the caller at their last search; undefined if nothing may be recalled. */
  lastView?: string,
): Promise<ResolvedQuery> {
  const { words, excluded } = query;
  const weights = weighTerms(query);
  const required = requiredBy(query);
  const excludedTerms = excluded.map((term) => [term]);
  const ranking: RankingQuery = {
    terms: weights,
    required,
    excluded: excludedTerms,
    coordinated: coordinatedBy(words),
    equal: titleKey(query.text),
    parts: [],
  };
  const equal = ranking.equal === '' ? [] : [ranking.equal];
  const needed = [...new Set([...required.flat(), ...excluded, ...equal])];
  const recalled = lastView === undefined ? undefined : recallIndex(index, lastView, [...weights.keys()], needed);
  const data = recalled ?? (await readIndex(many, index, [...weights.keys()], needed));
  const isRecalled = recalled !== undefined;
  preferNames(weights, query, (term) => documentsWith(data, term) > 0);
  const asTyped = { data, ranking, corrected: new Map(), mistyped: new Map(), words, isRecalled };
  if (weights.size === 0) return asTyped;
  const isKnown = (term: string) => documentsWith(data, term) > 0;
  const isUnknown = ({ word, term }: Token) => !isKnown(term) || isCharacter(word);
  // A stop word in capitals is not a typing error.
  const others = words.filter((token) => isUnknown(token) && (words.length === 1 || !STOP_WORDS.has(token.word)));
  const unknown = [...new Map(others.map((token) => [token.word, token])).values()];
  const suggestions = [
    ...(await suggestWords(
      many,
      index,
      unknown.map(({ word }) => word),
      words.at(-1)?.word ?? '',
    )),
    ...unknown.flatMap(partsOfName),
  ];
  if (suggestions.length === 0) return asTyped;
  const all = [...weights.keys(), ...suggestions.flatMap((each) => each.words.map(termOf))];
  const again = isRecalled ? recallIndex(index, data.view, all, needed) : undefined;
  // Read all terms again, so that all data is from one snapshot.
  const reread = again ?? (await readIndex(many, index, all, needed));
  // Words that the cached data lacks may have been added since.
  if (isRecalled && reread.state !== data.state) return resolveQuery(many, index, query);
  const { corrected, meant, mistyped } = addSuggestions(reread, weights, suggestions);
  const wordsMeant = replaceUnknownWords(words, meant);
  const rankingMeant = { ...ranking, coordinated: coordinatedBy(wordsMeant) };
  return {
    data: reread,
    ranking: rankingMeant,
    corrected,
    mistyped,
    words: wordsMeant,
    isRecalled: again !== undefined,
  };
}

/** Returns the number of documents with a term, including pending ones. */
function documentsWith({ terms, pending }: IndexData, term: string): number {
  const holds = (document: PendingDocument) =>
    document.terms && ` ${document.terms.title_terms}${document.terms.body_terms}`.includes(` ${term}:`);
  return (terms.get(term)?.documents ?? 0) + pending.filter(holds).length;
}

/** An unknown name is searched for by its parts: "getUserById" by "user". */
function partsOfName({ word, extra }: Token): WordSuggestion[] {
  const words = extra.filter(({ kind }) => kind === 'part').map((part) => part.word);
  return words.length > 0 ? [{ unknown: word, how: 'name', words }] : [];
}

/** Replaces unknown words with their most likely meaning, which may be two words. */
function replaceUnknownWords(words: readonly Token[], meant: ReadonlyMap<string, readonly string[]>): Token[] {
  return words.flatMap((token) => {
    const others = meant.get(token.word);
    if (!others) return [token];
    // As if they were typed with a space in between.
    return others.map((word, i) => ({
      ...token,
      word,
      term: termOf(word),
      start: i === 0 ? token.start : token.end,
      end: i === others.length - 1 ? token.end : token.end - 1,
    }));
  });
}

/**
 * Adds the terms of suggested words that are indexed. Returns the likely meaning of each unknown word: the correction
 * of a typing error, or the two words that it joins.
 */
function addSuggestions(
  data: IndexData,
  weights: Map<string, number>,
  suggestions: readonly WordSuggestion[],
): { corrected: Map<string, string>; meant: Map<string, string[]>; mistyped: Map<string, string> } {
  const corrected = new Map<string, string>();
  const meant = new Map<string, string[]>();
  const mistyped = new Map<string, string>();
  for (const { unknown, how, words } of suggestions) {
    // Of several corrections, the most frequent word is the most likely.
    const known = words
      .map((word) => ({ word, documents: documentsWith(data, termOf(word)) }))
      .filter(({ documents }) => documents > 0)
      .sort((one, other) => other.documents - one.documents);
    // A single part would be a different word.
    if (how === 'parts' && known.length < words.length) continue;
    const isWhole = how !== 'parts' && how !== 'name';
    if (known[0] && isWhole && !isCharacter(unknown) && !corrected.has(unknown)) corrected.set(unknown, known[0].word);
    if (how === 'parts' && !meant.has(unknown)) meant.set(unknown, words);
    else if (how === 'correction' && known[0]) {
      meant.set(unknown, [known[0].word]);
      mistyped.set(unknown, known[0].word);
    }
    for (const { word } of how === 'correction' ? known.slice(0, 1) : known) {
      const term = termOf(word);
      const isMeant = how === 'correction' || !isWhole;
      if (!weights.has(term)) weights.set(term, isMeant ? 1 : COMPLETION_WEIGHT);
    }
  }
  return { corrected, meant, mistyped };
}
