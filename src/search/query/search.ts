import type { Statements } from '../../access/guard.ts';
import { TITLE_WORD_PREFIX } from '../../analysis/document-terms.ts';
import { termOf } from '../../analysis/tokenize.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import { indexStateCte } from '../index/index-state.ts';
import type { Index } from '../index/pending.ts';
import { candidatesCte } from './candidates.ts';
import { beginsAmongRaised, MAX_RAISED, type NearHit, type Neighbours, neighboursIn, raiseNear } from './nearness.ts';
import type { ParsedQuery } from './parse-query.ts';
import { addToCache, cached } from './posting-cache.ts';
import { type Candidate, type Cut, type IndexData, type RankingQuery, rank } from './rank.ts';
import { type ResolvedQuery, requiredBy, resolveQuery } from './resolve-query.ts';
import type { HitsPart } from './search-parameters.ts';
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

/** How many terms are looked for in the texts of the hits: more than people ask for, and each costs a search of each text. */
const MAX_MARKED = 32;

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
  /** How many of the hits that are asked for are left out at the beginning already. */
  skipped: number;
  /** Whether there is no other attempt. */
  isAll: boolean;
  /** Whether these are all candidates there are. */
  isExact: boolean;
  /** Whether the best are raised by pairs of words, when their texts are read. */
  areRaised: boolean;
}

/** The part of the hits that a search asks for. */
export interface SearchPart {
  limit: number;
  offset: number;
  /** The keys of the hit that the list goes on behind, and its place by rank. */
  after?: readonly (string | number)[] | undefined;
  behind?: Cut['behind'];
  isByRank?: boolean;
  /**
   * The credential. What is in memory is used only for those that were answered before, so that the time of a refusal does not tell
   * what others look for.
   */
  caller?: string | undefined;
}

export interface Hits<Row> {
  rows: Row[];
  /** The terms and phrases to mark in passages. */
  terms: ReadonlySet<string>;
  phrases: string[][];
}

/**
 * Searches an index: reads and ranks postings, then runs the statement of `show`, which returns the visible rows of the
 * CTE `candidates` (id, score, no, is_near), in order. Two statements, or one where all of the index that it
 * needs is in memory, which the statement then confirms; more for unknown words, for phrases, for filters that few of the best
 * candidates meet, and if many of these are hidden from the caller.
 */
export async function searchIndex<Row>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  part: SearchPart,
  shown: Shown,
  show: (part: HitsPart) => Record<string, Sql>,
): Promise<Hits<Row>> {
  const { caller } = part;
  const mayRecall = caller !== undefined && cached<true>(index, `caller ${caller}`) !== undefined;
  let resolved = await resolveQuery(many, index, query, mayRecall);
  let rows = await readHits<Row>(many, index, query, resolved, part, shown, show);
  if (rows === undefined) {
    resolved = await resolveQuery(many, index, query);
    rows = await readHits<Row>(many, index, query, resolved, part, shown, show);
  }
  if (caller !== undefined) addToCache(index, `caller ${caller}`, true, caller.length);
  const phrases = query.phrases.map((phrase) => phrase.map(termOf));
  return { rows: rows ?? [], terms: termsToMark(resolved.data, resolved.ranking), phrases };
}

/** The hits of a part of the list. Undefined where what was recalled of the index is no longer true, or leaves nothing to ask for. */
async function readHits<Row>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  resolved: ResolvedQuery,
  { limit, offset, after, behind, isByRank = true }: SearchPart,
  shown: Shown,
  show: (part: HitsPart) => Record<string, Sql>,
): Promise<Row[] | undefined> {
  let rows: Row[] | undefined;
  let isConfirmed = !resolved.isRecalled;
  const pairs = neighboursIn(query.words);
  const wanted = { most: limit + offset, offset, behind, isByRank, pairs };
  for await (const { candidates, skipped, isAll, areRaised } of attempts(many, index, query, resolved, wanted, shown)) {
    const part = { limit, offset: offset - skipped, after };
    const statement = { candidates, ...show({ ...part, areRaised }) };
    rows = isConfirmed ? await many<Row>(statement) : await confirmed<Row>(many, index, statement, resolved.data.state);
    if (rows === undefined) return undefined;
    isConfirmed = true;
    if (areRaised) rows = raiseNear(rows as (Row & NearHit)[], pairs, titleScore, part);
    if (isAll || rows.length >= limit) break;
  }
  return rows;
}

/** The rows of a statement, unless the index has another state. */
async function confirmed<Row>(
  many: Statements['many'],
  index: Index,
  { result = raw(''), ...steps }: Record<string, Sql>,
  state: string | undefined,
): Promise<Row[] | undefined> {
  const rows = await many<Row & { index_state: string | null; is_hit: true | null }>({
    ...steps,
    index_state: indexStateCte(index),
    shown: result,
    result: sql`select i.state as index_state, s.* from index_state i left join (select true as is_hit, shown.* from shown) s on true`,
  });
  if (rows[0]?.index_state !== state) return undefined;
  return rows.filter(({ is_hit }) => is_hit);
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
    candidates: candidatesCte(index, best, raised),
    skipped,
    isAll,
    isExact,
    areRaised: raised > 0,
  });
  if (ranking.terms.size === 0) {
    if (shown.isFiltered)
      yield { candidates: allCte(index, shown), skipped: 0, isAll: true, isExact: true, areRaised: false };
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

/** The score of a hit whose title equals the query. */
function titleScore(score: number): number {
  return score * 1.5 + 2;
}
