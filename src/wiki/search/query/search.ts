import { TITLE_WORD_PREFIX } from '@ibid/markdown/analysis/title-key.ts';
import { termOf } from '@ibid/markdown/analysis/tokenize.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import { indexStateCte } from '../index/index-state.ts';
import type { Index } from '../index/pending.ts';
import { attempts } from './attempts.ts';
import { type NearHit, neighboursIn, raiseNear } from './nearness.ts';
import type { ParsedQuery } from './parse-query.ts';
import { addToCache, cached } from './postings/posting-cache.ts';
import { viewOf } from './postings/seen-documents.ts';
import type { Cut, IndexData, RankingQuery } from './rank.ts';
import { type ResolvedQuery, resolveQuery } from './resolve-query.ts';
import type { HitsPart } from './search-parameters.ts';
import type { Shown } from './shown-documents.ts';
import { withParts } from './word-parts.ts';

/**
 * Maximum number of terms to mark in the texts of hits: more than a usual query has, and each costs a search of every
 * text.
 */
const MAX_MARKED = 32;

/** The requested page of hits. */
export interface SearchPart {
  limit: number;
  offset: number;
  /** The keys of the last hit of the previous page, and its rank. */
  after?: readonly (string | number)[] | undefined;
  behind?: Cut['behind'];
  isByRank?: boolean;
  /**
   * The credential. The cache is used only for credentials that were answered before: otherwise the time of a refusal
   * would reveal the searches of other callers.
   */
  caller?: string | undefined;
}

export interface Hits<Row> {
  rows: Row[];
  /** The terms and phrases to mark in passages. */
  terms: ReadonlySet<string>;
  phrases: string[][];
  /** Words of the query that were corrected, with their replacements. */
  mistyped: ReadonlyMap<string, string>;
}

/**
 * Searches an index: reads and ranks postings, then runs the statement of `show`, which returns the visible rows of the
 * CTE `candidates` (id, score, no, is_near), in order. This takes two statements, or one if all index data is cached,
 * which that statement then confirms. More statements are needed for unknown words, for phrases, for filters that few
 * of the best candidates meet, and if many candidates are hidden from the caller.
 */
export async function searchIndex<Row>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  part: SearchPart,
  shown: Shown,
  show: (part: HitsPart) => Record<string, Sql>,
  complete?: ReadOptions<Row>['complete'],
): Promise<Hits<Row>> {
  return resolvedFor(many, index, query, part.caller, async (resolved) => {
    const read = await readHits<Row>(many, index, query, resolved, part, shown, show, { complete });
    return read && { rows: read.rows, ...markedBy(query, resolved) };
  });
}

/** Returns the terms and phrases to mark in the passages of hits. */
export function markedBy(query: ParsedQuery, { data, ranking, mistyped }: ResolvedQuery): Omit<Hits<never>, 'rows'> {
  return { terms: termsToMark(data, ranking), phrases: query.phrases.map((phrase) => phrase.map(termOf)), mistyped };
}

/**
 * Runs `read` with the index data of a query. For a caller who was answered before, the data is from the cache. If
 * `read` then returns undefined because the cached data is outdated, runs it again with data from the database.
 */
export async function resolvedFor<T>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  caller: string | undefined,
  read: (resolved: ResolvedQuery) => Promise<T | undefined>,
): Promise<T> {
  const lastView = caller === undefined ? undefined : cached<string>(index, `caller ${caller}`);
  const resolve = async (view?: string) => withParts(many, index, query, await resolveQuery(many, index, query, view));
  let resolved = await resolve(lastView);
  let answer = await read(resolved);
  if (answer === undefined) {
    resolved = await resolve();
    answer = await read(resolved);
  }
  if (answer === undefined) throw new Error('an answer read from the database is never outdated');
  const { view } = resolved.data;
  if (caller !== undefined) addToCache(index, `caller ${caller}`, view, caller.length + view.length);
  return answer;
}

/**
 * CTEs whose values the first statement of a search returns in addition to its hits. The CTE `beside` must have one row
 * with a `value`; no name may collide with a CTE of the search.
 */
export type Beside = Record<string, Sql>;

/** How hits are read. */
interface ReadOptions<Row> {
  beside?: Beside;
  /** Adds columns to the rows that the statement did not return. */
  complete?: ((rows: any[]) => Row[]) | undefined;
}

/** Rows, and the `value` of the additional CTEs. */
interface Read<Row> {
  rows: Row[];
  /** Undefined if no statement that selects it was run. */
  value: unknown;
}

/** Reads the hits of a page. Returns undefined if the cached index data is outdated. */
export async function readHits<Row>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  resolved: ResolvedQuery,
  { limit, offset, after, behind, isByRank = true }: SearchPart,
  shown: Shown,
  show: (part: HitsPart) => Record<string, Sql>,
  { beside, complete }: ReadOptions<Row> = {},
): Promise<Read<Row> | undefined> {
  let rows: Row[] | undefined;
  let value: unknown;
  const pairs = neighboursIn(resolved.words);
  const wanted = { most: limit + offset, offset, behind, isByRank, pairs };
  for await (const { candidates, best, skipped, isAll, areRaised } of attempts(
    many,
    index,
    query,
    resolved,
    wanted,
    shown,
  )) {
    const part = { limit, offset: offset - skipped, after };
    const statement = { candidates, ...show({ ...part, areRaised, best }) };
    const read = await readConfirmed<Row>(many, index, statement, resolved, rows === undefined ? beside : undefined);
    if (read === undefined) return undefined;
    if (rows === undefined) value = read.value;
    rows = complete ? complete(read.rows) : read.rows;
    if (areRaised) rows = raiseNear(rows as (Row & NearHit)[], pairs, part);
    if (isAll || rows.length >= limit) break;
  }
  // Without candidates no statement was run that confirms the cached data.
  return rows === undefined && resolved.isRecalled ? undefined : { rows: rows ?? [], value };
}

/** Returns the rows of a statement; undefined if the state of the index differs from the cached data. */
export async function readConfirmed<Row>(
  many: Statements['many'],
  index: Index,
  statement: Record<string, Sql>,
  { data: { state }, isRecalled }: ResolvedQuery,
  beside?: Beside,
): Promise<Read<Row> | undefined> {
  if (!isRecalled && !beside) return { rows: await many<Row>(statement), value: undefined };
  const { result = raw(''), ...steps } = statement;
  const rows = await many<Row & { index_state: string | null; value: unknown; is_first: boolean | null }>({
    ...steps,
    ...beside,
    index_state: isRecalled ? indexStateCte(index, viewOf(index)) : raw('select null::text as state'),
    shown: result,
    // Only with the first row: the value may be long.
    result: sql`
      select i.state as index_state, ${beside ? IN_FIRST : raw('null')} as value, s.*
      from index_state i left join (select row_number() over () = 1 as is_first, shown.* from shown) s on true`,
  });
  if (isRecalled && rows[0]?.index_state !== state) return undefined;
  return { rows: rows.filter(({ is_first }) => is_first !== null), value: rows[0]?.value };
}

const IN_FIRST = raw('case when s.is_first is distinct from false then (select b.value from beside b) end');

/** The terms that choose passages and are marked in them: the rarest ones, which are the most specific. */
function termsToMark({ terms }: IndexData, ranking: RankingQuery): ReadonlySet<string> {
  const all = [...ranking.terms.keys(), ...ranking.parts].filter((term) => !term.startsWith(TITLE_WORD_PREFIX));
  if (all.length <= MAX_MARKED) return new Set(all);
  const documents = (term: string) => terms.get(term)?.documents ?? 0;
  return new Set(all.sort((one, other) => documents(one) - documents(other)).slice(0, MAX_MARKED));
}
