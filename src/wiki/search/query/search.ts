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
import type { Cut, IndexData, RankingQuery } from './rank.ts';
import { type ResolvedQuery, resolveQuery } from './resolve-query.ts';
import type { HitsPart } from './search-parameters.ts';
import type { Shown } from './shown-documents.ts';
import { withParts } from './word-parts.ts';

/** How many terms are looked for in the texts of the hits: more than people ask for, and each costs a search of each text. */
const MAX_MARKED = 32;

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
  /** Words of the query that were taken for typing errors, and what was looked for instead. */
  mistyped: ReadonlyMap<string, string>;
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
  complete?: ReadOptions<Row>['complete'],
): Promise<Hits<Row>> {
  return resolvedFor(many, index, query, part.caller, async (resolved) => {
    const read = await readHits<Row>(many, index, query, resolved, part, shown, show, { complete });
    return read && { rows: read.rows, ...markedBy(query, resolved) };
  });
}

/** What to mark in the passages of hits. */
export function markedBy(query: ParsedQuery, { data, ranking, mistyped }: ResolvedQuery): Omit<Hits<never>, 'rows'> {
  return { terms: termsToMark(data, ranking), phrases: query.phrases.map((phrase) => phrase.map(termOf)), mistyped };
}

/**
 * Runs `read` with what the index has for a query: for a caller who was answered before from memory, and where `read` answers
 * undefined, since that is no longer true, from the database.
 */
export async function resolvedFor<T>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  caller: string | undefined,
  read: (resolved: ResolvedQuery) => Promise<T | undefined>,
): Promise<T> {
  const mayRecall = caller !== undefined && cached<true>(index, `caller ${caller}`) !== undefined;
  const resolve = async (recalls: boolean) =>
    withParts(many, index, query, await resolveQuery(many, index, query, recalls));
  let answer = await read(await resolve(mayRecall));
  answer ??= await read(await resolve(false));
  if (answer === undefined) throw new Error('what was read from the database is never outdated');
  if (caller !== undefined) addToCache(index, `caller ${caller}`, true, caller.length);
  return answer;
}

/**
 * What the first statement of a search answers beside its hits: CTEs, of which `beside` has one row, with a `value`. Their names
 * are none that a search has.
 */
export type Beside = Record<string, Sql>;

/** How hits are read. */
interface ReadOptions<Row> {
  beside?: Beside;
  /** Adds to the rows of a statement what it did not answer. */
  complete?: ((rows: any[]) => Row[]) | undefined;
}

/** Rows, and what was asked for beside them. */
interface Read<Row> {
  rows: Row[];
  /** Undefined where no statement was sent that asked for it. */
  value: unknown;
}

/** The hits of a part of the list. Undefined where what was recalled of the index is no longer true. */
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
  // What was recalled and leaves nothing to ask for was not confirmed.
  return rows === undefined && resolved.isRecalled ? undefined : { rows: rows ?? [], value };
}

/** The rows of a statement; undefined if the index has another state than what was recalled of it. */
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
    index_state: isRecalled ? indexStateCte(index) : raw('select null::text as state'),
    shown: result,
    // With the first of the rows alone: it may be long.
    result: sql`
      select i.state as index_state, ${beside ? IN_FIRST : raw('null')} as value, s.*
      from index_state i left join (select row_number() over () = 1 as is_first, shown.* from shown) s on true`,
  });
  if (isRecalled && rows[0]?.index_state !== state) return undefined;
  return { rows: rows.filter(({ is_first }) => is_first !== null), value: rows[0]?.value };
}

const IN_FIRST = raw('case when s.is_first is distinct from false then (select b.value from beside b) end');

/** The terms that passages are chosen by and that are marked in them: the rarest, which say most. */
function termsToMark({ terms }: IndexData, ranking: RankingQuery): ReadonlySet<string> {
  const all = [...ranking.terms.keys(), ...ranking.parts].filter((term) => !term.startsWith(TITLE_WORD_PREFIX));
  if (all.length <= MAX_MARKED) return new Set(all);
  const documents = (term: string) => terms.get(term)?.documents ?? 0;
  return new Set(all.sort((one, other) => documents(one) - documents(other)).slice(0, MAX_MARKED));
}
