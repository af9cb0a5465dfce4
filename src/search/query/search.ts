import type { Statements } from '../../access/guard.ts';
import { TITLE_WORD_PREFIX } from '../../analysis/document-terms.ts';
import { termOf } from '../../analysis/tokenize.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import type { Index } from '../index/pending.ts';
import { candidatesCte } from './candidates.ts';
import { beginsAmongRaised, MAX_RAISED, type Neighbours, neighboursIn, raiseNear } from './nearness.ts';
import type { ParsedQuery } from './parse-query.ts';
import { type Candidate, type Cut, type IndexData, type RankingQuery, rank } from './rank.ts';
import { type ResolvedQuery, requiredBy, resolveQuery } from './resolve-query.ts';
import { readShown, type Shown } from './shown-documents.ts';
import { hasConditions, verifyCandidates } from './verify-phrases.ts';

/** Additional candidates, to replace those that the caller may not see. */
const SPARE_CANDIDATES = 32;

/** A list that begins farther behind is cut before the database is asked, which would read all that are before. */
const NEAR_OFFSET = 500;

/**
 * The maximum number of candidates whose phrases and titles are verified; a query with more hits returns the best of
 * these.
 */
const MAX_VERIFIED = 500;

/** How many of the best hits rank higher for a phrase that they need not contain, and by what. */
const MAX_BOOSTED = 50;
const PHRASE_BOOST = 1.3;

/** Of more hits than this, the best are ordered by a date or by title. */
const MAX_SORTED = 10_000;

/** How many terms are looked for in the texts of the hits: more than people ask for, and each costs a search of each text. */
const MAX_MARKED = 32;

export interface Wanted {
  /** How many hits, with those before them. */
  most: number;
  offset: number;
  /** The hit that the list goes on behind. */
  behind?: Cut['behind'];
  isByRank: boolean;
  /** Pairs of words by which the best hits are raised that have them next to each other. */
  pairs?: readonly Neighbours[];
}

/** Candidates for a search: a CTE with id, score and no, of which the caller may not see some. */
export interface Attempt {
  candidates: Sql;
  /** How many of the hits that are asked for are left out at the beginning already. */
  skipped: number;
  /** Whether there is no other attempt. */
  isAll: boolean;
  /** Whether these are all candidates there are. */
  isExact: boolean;
}

export interface Hits<Row> {
  rows: Row[];
  /** The terms and phrases to mark in passages. */
  terms: ReadonlySet<string>;
  phrases: string[][];
}

/**
 * Searches an index: reads and ranks postings, then runs the statement of `show`, which returns the visible rows of the
 * CTE `candidates` (id, score, no), in order. Two statements; more for unknown words, for phrases, for filters that few of
 * the best candidates meet, and if many of these are hidden from the caller.
 */
export async function searchIndex<Row>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  {
    limit,
    offset,
    behind,
    isByRank = true,
  }: { limit: number; offset: number; behind?: Cut['behind']; isByRank?: boolean },
  shown: Shown,
  show: (offset: number) => Record<string, Sql>,
): Promise<Hits<Row>> {
  const resolved = await resolveQuery(many, index, query);
  const phrases = query.phrases.map((phrase) => phrase.map(termOf));
  const marked = { terms: termsToMark(resolved.data, resolved.ranking), phrases };
  let rows: Row[] = [];
  const wanted = { most: limit + offset, offset, behind, isByRank, pairs: neighboursIn(query.words) };
  for await (const { candidates, skipped, isAll } of attempts(many, index, query, resolved, wanted, shown)) {
    rows = await many<Row>({ candidates, ...show(offset - skipped) });
    if (isAll || rows.length >= limit) break;
  }
  return { rows, ...marked };
}

/** Candidates for a search, more each time. A caller that has enough of them stops. */
export async function* attempts(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  { data, ranking }: ResolvedQuery,
  wanted: Wanted,
  shown: Shown,
): AsyncGenerator<Attempt> {
  const toAttempt = (best: readonly Candidate[], isExact: boolean, isAll = true, skipped = 0): Attempt => ({
    candidates: candidatesCte(index, best),
    skipped,
    isAll,
    isExact,
  });
  if (ranking.terms.size === 0) {
    if (shown.isFiltered) yield { candidates: allCte(index, shown), skipped: 0, isAll: true, isExact: true };
    return;
  }
  const isShown = () => readShown(many, index, shown);
  if (hasConditions(query)) {
    const best = await bestVerified(many, index, query, { data, ranking }, wanted, shown);
    // Of as many candidates as are verified at most there may be more.
    if (best.length > 0) yield toAttempt(best, rank(data, ranking, MAX_VERIFIED).isAll);
    return;
  }
  if (!wanted.isByRank) {
    const { best, isAll } = rank(data, ranking, MAX_SORTED, shown.isFiltered ? { isShown: await isShown() } : {});
    if (best.length > 0) yield toAttempt(best, isAll);
    return;
  }
  const { most, offset, behind } = wanted;
  const isNear = offset <= NEAR_OFFSET;
  const pairs = isNear ? (wanted.pairs ?? []) : [];
  const best = (enough: number, cut: Cut) =>
    bestNearFirst(many, index, { data, ranking }, { enough, cut, pairs }, shown.isFound);
  if (isNear) {
    const first = await best(most + SPARE_CANDIDATES, { behind });
    if (first.best.length === 0) return;
    yield toAttempt(first.best, first.isAll, first.isAll);
    if (first.isAll) return;
  }
  const all = await best(most, { behind, isShown: await isShown() });
  if (all.best.length > offset) yield toAttempt(all.best.slice(offset), all.isAll, true, offset);
}

/** The best candidates, of which the first are raised if they have words of the query next to each other. */
async function bestNearFirst(
  many: Statements['many'],
  index: Index,
  { data, ranking }: Pick<ResolvedQuery, 'data' | 'ranking'>,
  { enough, cut, pairs }: { enough: number; cut: Cut; pairs: readonly Neighbours[] },
  isFound: Sql,
) {
  if (pairs.length > 0) {
    const first = rank(data, ranking, enough + MAX_RAISED, { ...cut, behind: undefined });
    if (beginsAmongRaised(first.best, cut.behind)) {
      return { ...first, best: await raiseNear(many, index, pairs, first.best, isFound) };
    }
  }
  return rank(data, ranking, enough, cut);
}

/** The candidates that meet the conditions of a query; where phrases need not be met, or leave nothing, they add to scores. */
async function bestVerified(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  { data, ranking }: Pick<ResolvedQuery, 'data' | 'ranking'>,
  { most, behind }: Wanted,
  shown: Shown,
): Promise<Candidate[]> {
  const cut = shown.isFiltered ? { isShown: await readShown(many, index, shown) } : {};
  const enough = behind ? MAX_VERIFIED : most;
  const verify = (best: readonly Candidate[], conditions: typeof query, least = enough) =>
    verifyCandidates(many, index, best, conditions, shown.isFound, least);
  const isBonus = query.phrases.length > 0 && !query.arePhrasesRequired;
  if (!isBonus) {
    const found = await verify(rank(data, ranking, MAX_VERIFIED, cut).best, query);
    if (found.length > 0 || query.phrases.length === 0 || !query.hasOtherWords) return found;
  }
  const withoutPhrases = { ...query, phrases: [] };
  const { best } = rank(data, { ...ranking, required: requiredBy(withoutPhrases) }, MAX_VERIFIED, cut);
  const others = hasConditions(withoutPhrases) ? await verify(best, withoutPhrases) : best;
  // Where no document contains the phrases there is nothing to raise.
  if (!isBonus) return others;
  const first = others.slice(0, MAX_BOOSTED);
  const keyOf = ({ document_no, document_id }: Candidate) => (document_no < 0 ? document_id : document_no);
  const holding = new Set(
    (await verify(first, { ...query, titles: [], excludedTitles: [], excludedPhrases: [] }, MAX_BOOSTED)).map(keyOf),
  );
  return others.map((each) => (holding.has(keyOf(each)) ? { ...each, score: each.score * PHRASE_BOOST } : each));
}

/** All documents that a search without words finds. */
function allCte({ wiki_id, kind }: Index, { isFound }: Shown): Sql {
  const d = kind === 'page' ? raw('p') : raw('s');
  const id = raw(`${kind}_id`);
  return sql`
    select ${d}.${id} as id, 0::float8 as score, 0 as no from ${raw(`${kind}s`)} ${d} where ${d}.wiki_id = ${wiki_id} and ${isFound}`;
}

/** The terms that passages are chosen by and that are marked in them: the rarest, which say most. */
function termsToMark({ terms }: IndexData, ranking: RankingQuery): ReadonlySet<string> {
  const all = [...ranking.terms.keys()].filter((term) => !term.startsWith(TITLE_WORD_PREFIX));
  if (all.length <= MAX_MARKED) return new Set(all);
  const documents = (term: string) => terms.get(term)?.documents ?? 0;
  return new Set(all.sort((one, other) => documents(one) - documents(other)).slice(0, MAX_MARKED));
}

/** The score of a candidate `c`, increased if its title equals the query. */
export function scoreWithTitle(title: Sql, query: string): Sql {
  return sql`case when lower(${title}) = lower(${query}) then c.score * 1.5 + 2 else c.score end`;
}
