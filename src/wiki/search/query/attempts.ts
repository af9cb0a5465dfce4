import type { Statements } from '../../../platform/access/guard.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import { candidatesCte } from './candidates.ts';
import { beginsAmongRaised, MAX_RAISED, type Neighbours } from './nearness.ts';
import type { ParsedQuery } from './parse-query.ts';
import { type Candidate, type Cut, rank } from './rank.ts';
import { type ResolvedQuery, requiredBy } from './resolve-query.ts';
import { readShown, type Shown } from './shown-documents.ts';
import { hasConditions, verifyCandidates } from './verify-phrases.ts';

/** Extra candidates, in case some are hidden from the caller. */
const SPARE_CANDIDATES = 16;

/**
 * Beyond this offset, hidden documents are filtered out first and the list is cut in memory, instead of having the
 * database read and skip all earlier candidates.
 */
const NEAR_OFFSET = 500;

/**
 * Maximum number of candidates whose phrases and titles are verified. If more documents match, only the best ones are
 * checked.
 */
const MAX_VERIFIED = 500;

/** Number of top hits that an optional phrase can raise, and the factor. */
const MAX_BOOSTED = 50;
const PHRASE_BOOST = 1.3;

/** Sorting by date or title considers only this many of the best hits. */
const MAX_SORTED = 10_000;

export interface Wanted {
  /** Number of hits needed, including the skipped ones. */
  most: number;
  offset: number;
  /** The last hit of the previous page of results. */
  behind?: Cut['behind'];
  isByRank: boolean;
  /** Pairs of adjacent query words. Top hits in which the words are adjacent too are raised. */
  pairs?: readonly Neighbours[];
}

/** Candidates for a search, as a CTE with id, score, no and is_near. Some may be hidden from the caller. */
export interface Attempt {
  candidates: Sql;
  /** The same candidates, best first; undefined if a search without words selects its documents directly. */
  best?: readonly Candidate[];
  /** Number of leading hits that are already cut off. */
  skipped: number;
  /** Whether this is the last attempt. */
  isAll: boolean;
  /** Whether these are all candidates of the search. */
  isExact: boolean;
  /** Whether the top hits are raised by pairs of words once their texts are read. */
  areRaised: boolean;
}

/** Yields candidates for a search, more with each attempt. The caller stops when it has enough. */
export async function* attempts(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  { data, ranking }: ResolvedQuery,
  wanted: Wanted,
  shown: Shown,
): AsyncGenerator<Attempt> {
  const toAttempt = (best: readonly Candidate[], isExact: boolean, isAll = true, skipped = 0, raised = 0): Attempt => ({
    // Built on demand: the SQL of a thousand candidates is long, and counting seldom needs it.
    get candidates() {
      return candidatesCte(index, best, raised);
    },
    best,
    skipped,
    isAll,
    isExact,
    areRaised: raised > 0,
  });
  if (ranking.terms.size === 0) {
    const all = shown.isFiltered ? allCte(index, shown) : titledCte(index, query);
    if (all) yield { candidates: all, skipped: 0, isAll: true, isExact: true, areRaised: false };
    return;
  }
  const isShown = () => readShown(many, index, shown);
  if (hasConditions(query)) {
    const best = await bestVerified(many, index, query, { data, ranking }, wanted, shown);
    // There may be more documents than the maximum that is verified.
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
  if (isNear) {
    const first = bestNearFirst({ data, ranking }, pairs, most, SPARE_CANDIDATES, { behind });
    if (first.best.length === 0) return;
    yield toAttempt(first.best, first.isAll, first.isAll, 0, first.raised);
    if (first.isAll) return;
  }
  const all = bestNearFirst({ data, ranking }, pairs, most, 0, { behind, isShown: await isShown() });
  if (all.raised > 0) yield toAttempt(all.best, all.isAll, true, 0, all.raised);
  else if (all.best.length > offset) yield toAttempt(all.best.slice(offset), all.isAll, true, offset);
}

/** Returns the best candidates, and how many of the first can be raised for adjacent query words. */
function bestNearFirst(
  { data, ranking }: Pick<ResolvedQuery, 'data' | 'ranking'>,
  pairs: readonly Neighbours[],
  most: number,
  spare: number,
  cut: Cut,
): ReturnType<typeof rank> & { raised: number } {
  if (pairs.length > 0) {
    const enough = cut.behind ? most + MAX_RAISED : Math.max(most, MAX_RAISED);
    const first = rank(data, ranking, enough + spare, { ...cut, behind: undefined });
    const isRaised = first.best.length > 1 && beginsAmongRaised(first.best, cut.behind);
    if (isRaised) return { ...first, raised: MAX_RAISED };
  }
  return { ...rank(data, ranking, most + spare, cut), raised: 0 };
}

/**
 * Returns the candidates that meet the conditions of a query. Phrases that are optional, or that no document contains,
 * do not filter; an optional phrase raises the scores.
 */
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
  const withoutPhrases = { ...query, phrases: [], literals: [] };
  const { best } = rank(data, { ...ranking, required: requiredBy(withoutPhrases) }, MAX_VERIFIED, cut);
  const others = hasConditions(withoutPhrases) ? await verify(best, withoutPhrases) : best;
  // No document contains the phrases, so none is raised.
  if (!isBonus) return others;
  const first = others.slice(0, MAX_BOOSTED);
  const keyOf = ({ document_no, document_id }: Candidate) => (document_no < 0 ? document_id : document_no);
  const holding = new Set(
    (await verify(first, { ...query, titles: [], excludedTitles: [], excludedPhrases: [] }, MAX_BOOSTED)).map(keyOf),
  );
  return others.map((each) => (holding.has(keyOf(each)) ? { ...each, score: each.score * PHRASE_BOOST } : each));
}

/** Selects all documents that meet the filters of a search without words. */
function allCte({ wiki_id, kind }: Index, { isFound }: Shown): Sql {
  const d = kind === 'page' ? raw('p') : raw('s');
  const id = raw(`${kind}_id`);
  return sql`
    select ${d}.${id} as id, 0::float8 as score, 0 as no from ${raw(`${kind}s`)} ${d} where ${d}.wiki_id = ${wiki_id} and ${isFound}`;
}

/** Finds pages whose title is a sign, such as `[[` in a manual, by title key: signs are not indexed. */
function titledCte({ wiki_id, kind }: Index, { text }: ParsedQuery): Sql | undefined {
  if (kind !== 'page' || text === '') return undefined;
  return sql`
    select p.page_id as id, 0::float8 as score, 0 as no from pages p
    where p.wiki_id = ${wiki_id} and p.title_key = lower(${text}) and p.trashed_at is null`;
}
