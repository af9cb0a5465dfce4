import type { Statements } from '../../access/guard.ts';
import { termOf } from '../../analysis/tokenize.ts';
import { type Sql, sql } from '../../db/sql.ts';
import type { Index } from '../index/pending.ts';
import { candidatesCte } from './candidates.ts';
import { suggestWords } from './correct-words.ts';
import type { ParsedQuery } from './parse-query.ts';
import { type IndexData, type RankingQuery, rank } from './rank.ts';
import { readIndex } from './read-index.ts';
import { verifyCandidates } from './verify-phrases.ts';

/** Additional candidates, to replace those that the caller may not see. */
const SPARE_CANDIDATES = 32;

/**
 * The maximum number of candidates whose phrases and titles are verified; a query with more hits returns the best of
 * these.
 */
const MAX_VERIFIED = 500;

/** How many terms are looked for in the texts of the hits: more than people ask for, and each costs a search of each text. */
const MAX_MARKED = 32;

/** The weight of a completion of the query's last word, relative to a word as typed. */
const COMPLETION_WEIGHT = 0.5;

export interface Hits<Row> {
  rows: Row[];
  /** The terms to mark in passages. */
  terms: ReadonlySet<string>;
}

/**
 * Searches an index: reads and ranks postings, then runs the statement of `show`, which returns the visible rows of the
 * CTE `candidates` (id and score), best first, with limit and offset. Two statements; more for unknown words, for
 * phrases, and if many of the best candidates are hidden from the caller.
 */
export async function searchIndex<Row>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  { limit, offset }: { limit: number; offset: number },
  show: { steps: Record<string, Sql>; isVisible: Sql },
): Promise<Hits<Row>> {
  const { data, ranking } = await resolveQuery(many, index, query);
  const terms = termsToMark(data, ranking);
  const isChecked = query.phrases.length > 0 || query.titles.length > 0;
  const all = data.index.next_no + data.pending.length + 1;
  for (const most of [isChecked ? MAX_VERIFIED : limit + offset + SPARE_CANDIDATES, all]) {
    const ranked = rank(data, ranking, most);
    const best = isChecked ? await verifyCandidates(many, index, ranked.best, query, show.isVisible) : ranked.best;
    if (best.length === 0) return { rows: [], terms };
    const rows = await many<Row>({ candidates: candidatesCte(index, best), ...show.steps });
    if (rows.length >= limit || ranked.isAll || isChecked || most === all) return { rows, terms };
  }
  return { rows: [], terms };
}

/** The terms that passages are chosen by and that are marked in them: the rarest, which say most. */
function termsToMark({ terms }: IndexData, ranking: RankingQuery): ReadonlySet<string> {
  const all = [...ranking.terms.keys()];
  if (all.length <= MAX_MARKED) return new Set(all);
  const documents = (term: string) => terms.get(term)?.documents ?? 0;
  return new Set(all.sort((one, other) => documents(one) - documents(other)).slice(0, MAX_MARKED));
}

/** The score of a candidate `c`, increased if its title equals the query. */
export function scoreWithTitle(title: Sql, query: string): Sql {
  return sql`case when lower(${title}) = lower(${query}) then c.score * 1.5 + 2 else c.score end`;
}

interface ResolvedQuery {
  data: IndexData;
  ranking: RankingQuery;
  /** Unknown words and their most likely corrections. */
  corrected: ReadonlyMap<string, string>;
}

/** Reads the index data for the words of a query and for the suggestions for unknown ones. */
export async function resolveQuery(
  many: Statements['many'],
  index: Index,
  { words, phrases, excluded, titles }: ParsedQuery,
): Promise<ResolvedQuery> {
  // A repeated word does not count twice.
  const weights = new Map(words.map(({ term }) => [term, 1]));
  const inPhrases = new Set(phrases.flat().map(termOf));
  // Stop words are not in the index of texts; phrases that contain them are verified in the text only.
  const required = [...new Set([...titles, ...[...inPhrases].filter((term) => weights.has(term))])];
  const ranking: RankingQuery = { terms: weights, required, excluded };
  const needed = [...new Set([...required, ...excluded.flat()])];
  const data = await readIndex(many, index, [...weights.keys()], needed);
  if (weights.size === 0) return { data, ranking, corrected: new Map() };
  const isKnown = (term: string) =>
    data.terms.has(term) ||
    data.pending.some(({ terms }) => terms && ` ${terms.title_terms}${terms.body_terms}`.includes(` ${term}:`));
  const unknown = [...new Map(words.filter(({ term }) => !isKnown(term)).map((token) => [token.word, token])).values()];
  const suggestions = await suggestWords(
    many,
    index,
    unknown.map(({ word }) => word),
    words.at(-1)?.word ?? '',
  );
  if (suggestions.length === 0) return { data, ranking, corrected: new Map() };
  const candidates = [...new Set(suggestions.flatMap((each) => each.words.map(termOf)))];
  // All terms are read again, so that all data is from one snapshot.
  const reread = await readIndex(many, index, [...weights.keys(), ...candidates], needed);
  const documentsOf = (word: string) => reread.terms.get(termOf(word))?.documents ?? 0;
  const corrected = new Map<string, string>();
  for (const { unknown: word, how, words: others } of suggestions) {
    // Of several corrections the most frequent word is the most likely one.
    const known = others.filter((other) => documentsOf(other) > 0).sort((a, b) => documentsOf(b) - documentsOf(a));
    if (known[0] !== undefined) corrected.set(word, known[0]);
    for (const other of how === 'correction' ? known.slice(0, 1) : known) {
      const term = termOf(other);
      if (!weights.has(term)) weights.set(term, how === 'correction' ? 1 : COMPLETION_WEIGHT);
    }
  }
  return { data: reread, ranking, corrected };
}
