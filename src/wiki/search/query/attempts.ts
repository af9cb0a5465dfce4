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

/** Additional candidates, to replace those that the caller may not see. */
const SPARE_CANDIDATES = 16;

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

export interface Wanted {
  /** How many hits, with those before them. */
  most: number;
  offset: number;
  /** The hit that the list goes on behind. */
  behind?: Cut['behind'];
  isByRank: boolean;
  /** Pairs of words by which the best hits are to be raised that have them next to each other. */
  pairs?: readonly Neighbours[];
}

/** Candidates for a search: a CTE with id, score, no and is_near, of which the caller may not see some. */
export interface Attempt {
  candidates: Sql;
  /** The same, best first; undefined for all documents that a search without words finds. */
  best?: readonly Candidate[];
  /** How many of the hits that are asked for are left out at the beginning already. */
  skipped: number;
  /** Whether there is no other attempt. */
  isAll: boolean;
  /** Whether these are all candidates there are. */
  isExact: boolean;
  /** Whether the best are raised by pairs of words, when their texts are read. */
  areRaised: boolean;
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
  const toAttempt = (best: readonly Candidate[], isExact: boolean, isAll = true, skipped = 0, raised = 0): Attempt => ({
    // Of a thousand candidates that are counted it is long, and seldom asked for.
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

/** The best candidates, and how many of the first are raised if they have words of the query next to each other. */
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
  const withoutPhrases = { ...query, phrases: [], literals: [] };
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

/** Signs are in no index of words; the pages whose titles they are, as `[[` of a manual, are found by the key of titles. */
function titledCte({ wiki_id, kind }: Index, { text }: ParsedQuery): Sql | undefined {
  if (kind !== 'page' || text === '') return undefined;
  return sql`
    select p.page_id as id, 0::float8 as score, 0 as no from pages p
    where p.wiki_id = ${wiki_id} and p.title_key = lower(${text}) and p.trashed_at is null`;
}
