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

/** The weight of a completion of the query's last word, relative to a word as typed. */
const COMPLETION_WEIGHT = 0.5;

/** The terms of a query with their weights, and what the index has of them. */
export interface ResolvedQuery {
  data: IndexData;
  ranking: RankingQuery;
  /** Unknown words and their most likely corrections. */
  corrected: ReadonlyMap<string, string>;
  /** Those of them that are typing errors. */
  mistyped: ReadonlyMap<string, string>;
  /** The query's words, with corrections in the place of unknown ones. */
  words: readonly Token[];
  /** Whether `data` is from memory: what is found with it is true only if the index still has its state. */
  isRecalled: boolean;
}

/** A longer query is a text, of which no document has all words. */
const COORDINATED_MAX = 10;

/** Pairs of letters of scripts without spaces overlap, and say how much of a word a document has. */
function coordinatedBy(words: readonly Token[]): string[] {
  const terms = [...new Set(words.map(({ term }) => term))];
  return terms.length > COORDINATED_MAX || terms.some(isUnspaced) ? [] : terms;
}

/** What a document has to contain for its phrases and title terms, and by `+` and AND: all terms of one of the lists. */
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

/** Of several phrases of stop words each has two lists. */
const MAX_LISTS = 64;

/**
 * The lists of terms of which a document has one where it has the phrase. Stop words are in the index of titles, and in that of texts
 * only where some are in a row; a phrase with others is verified in the text alone.
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
 * Reads the index data for the words of a query and for the suggestions for unknown ones, from memory if that `mayRecall` and has
 * it.
 */
export async function resolveQuery(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  mayRecall = false,
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
  const recalled = mayRecall ? recallIndex(index, [...weights.keys()], needed) : undefined;
  const data = recalled ?? (await readIndex(many, index, [...weights.keys()], needed));
  const isRecalled = recalled !== undefined;
  preferNames(weights, query, (term) => documentsWith(data, term) > 0);
  const asTyped = { data, ranking, corrected: new Map(), mistyped: new Map(), words, isRecalled };
  if (weights.size === 0) return asTyped;
  const isKnown = (term: string) => documentsWith(data, term) > 0;
  const isUnknown = ({ word, term }: Token) => !isKnown(term) || isCharacter(word);
  // A stop word in capitals is no typing error.
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
  const again = isRecalled ? recallIndex(index, all, needed) : undefined;
  // All terms are read again, so that all data is from one snapshot.
  const reread = again ?? (await readIndex(many, index, all, needed));
  // What was unknown in memory may be known by now.
  if (isRecalled && reread.state !== data.state) return resolveQuery(many, index, query);
  const { corrected, meant, mistyped } = addSuggestions(reread, weights, suggestions);
  const wordsMeant = withMeant(words, meant);
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

/** The number of documents with a term, those that are not merged yet included. */
function documentsWith({ terms, pending }: IndexData, term: string): number {
  const holds = (document: PendingDocument) =>
    document.terms && ` ${document.terms.title_terms}${document.terms.body_terms}`.includes(` ${term}:`);
  return (terms.get(term)?.documents ?? 0) + pending.filter(holds).length;
}

/** A name that the wiki does not have is looked for by its parts: "getUserById" by "user". */
function partsOfName({ word, extra }: Token): WordSuggestion[] {
  const words = extra.filter(({ kind }) => kind === 'part').map((part) => part.word);
  return words.length > 0 ? [{ unknown: word, how: 'name', words }] : [];
}

/** The words, and for unknown ones what they were most likely meant to be, which may be two words. */
function withMeant(words: readonly Token[], meant: ReadonlyMap<string, readonly string[]>): Token[] {
  return words.flatMap((token) => {
    const others = meant.get(token.word);
    if (!others) return [token];
    // As if they were typed with a space between.
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
 * Adds the terms of suggested words that are in the index, and returns what each unknown word was most likely meant to be: by a
 * typing error, and also where it is two words as one.
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
    // Of several corrections the most frequent word is the most likely one.
    const known = words
      .map((word) => ({ word, documents: documentsWith(data, termOf(word)) }))
      .filter(({ documents }) => documents > 0)
      .sort((one, other) => other.documents - one.documents);
    // One of two parts is another word.
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
