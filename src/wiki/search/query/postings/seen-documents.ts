import { raw, type Sql, sql } from '../../../../platform/db/sql.ts';
import type { Index } from '../../index/pending.ts';
import type { Postings } from '../../index/postings.ts';
import type { IndexData } from '../rank.ts';
import { addToCache, cached } from './posting-cache.ts';
import type { TermData } from './read-postings.ts';

/** The documents of an index that restrictions hide from some caller. */
interface Hidden {
  numbers: Numbers;
  ids: ReadonlySet<string>;
  /** How many of them count as documents of the index. */
  counted: number;
}

/** A set of document numbers, asked for each posting of a search. */
interface Numbers {
  size: number;
  has(number: number): boolean;
}

function numbersOf(numbers: readonly number[]): Numbers {
  const isIn = new Uint8Array(numbers.reduce((most, number) => Math.max(most, number), -1) + 1);
  for (const number of numbers) isIn[number] = 1;
  return { size: numbers.length, has: (number) => isIn[number] === 1 };
}

/** The hidden documents by the name of the view, latest first. */
type Views = readonly (readonly [view: string, hidden: Hidden])[];

const VIEWS = 'views';
/** Views kept of an index. */
const KEPT = 8;
const DOCUMENT_BYTES = 100;

/** The columns that `hiddenIn` reads. */
export interface ViewRow {
  /** Name of the set of documents that the caller sees; '' for all. */
  view: string | null;
  /** The documents that the caller does not see; null if they are cached. */
  hidden: [no: number | null, document_id: string, is_trashed: boolean][] | null;
}

export const NO_VIEW: Sql = sql`null::text as view, null::json as hidden`;

/** SQL condition: whether a restriction hides a row `h` of pages_not_open() from the caller. */
const IS_RESTRICTED: Sql = raw(
  '((select restricts()) and h.acl_no > 0 and not has_bit((select own_reads()), h.acl_no))',
);

/** SQL condition: whether the caller does not see a row `h` of pages_not_open(). */
export const IS_UNSEEN: Sql = sql`((h.status = 'draft' and not (select sees_drafts())) or ${IS_RESTRICTED})`;

/**
 * Selects the documents of an index that restrictions hide from the caller, as in a ViewRow. Drafts are part of the counts
 * by which searches rank, in all wikis.
 */
const HIDDEN: Record<Index['kind'], (wiki_id: string) => Sql> = {
  page: (wiki_id) => sql`
    select json_agg(json_build_array(h.document_no, h.page_id, h.is_trashed)) from pages_not_open(${wiki_id}) h
    where ${IS_RESTRICTED}`,
  source: (wiki_id) => sql`
    select json_agg(json_build_array(h.document_no, h.source_id, false)) from sources_not_open(${wiki_id}) h
    where not h.acl_nos <@ (select numbers_of(own_reads()))`,
};

/** Selects the columns of ViewRow. */
export function viewColumns(index: Index): Sql {
  const known = (cached<Views>(index, VIEWS) ?? []).map(([view]) => view);
  return sql`${viewOf(index)} as view,
    case when (select restricts()) and ${viewOf(index)} <> all (${known}::text[]) then (${HIDDEN[index.kind](index.wiki_id)})
      end as hidden`;
}

/**
 * An expression for the name of the set of documents that the caller sees: equal for two callers exactly if they see the
 * same documents with the same numbers.
 */
export function viewOf({ wiki_id, kind }: Index): Sql {
  const version = kind === 'page' ? numberedTree(wiki_id) : numberedSources(wiki_id);
  return sql`case when (select restricts()) then (
      select concat(${version}, own_view()) from wikis w where w.wiki_id = ${wiki_id}) else '' end`;
}

/** The version of the tree of a row `w` of wikis, and of the numbers of its pages: a merge numbers new pages. */
export function numberedTree(wiki_id: string): Sql {
  return sql`w.tree_version || ' ' || coalesce((
    select i.next_no from search_wikis i where i.wiki_id = ${wiki_id} and i.kind = 'page'), 0)`;
}

/** The version of the hidden sources of a row `w` of wikis, and of the numbers of its sources. */
function numberedSources(wiki_id: string): Sql {
  return sql`w.sources_version || ' ' || coalesce((
    select i.next_no from search_wikis i where i.wiki_id = ${wiki_id} and i.kind = 'source'), 0)`;
}

/** Returns the documents that the caller does not see, and caches them. One of the `rows` has the columns of a view. */
export function hiddenIn(index: Index, rows: readonly ViewRow[]): Hidden & { view: string } {
  const { view, hidden } = rows.find((row) => row.view !== null) ?? { view: '', hidden: null };
  if (!view) return NOTHING_HIDDEN;
  const views = cached<Views>(index, VIEWS) ?? [];
  const known = views.find(([name]) => name === view)?.[1];
  if (known) return { ...known, view };
  const own = toHidden(hidden ?? []);
  const kept = [[view, own] as const, ...views].slice(0, KEPT);
  const documents = kept.reduce((sum, [, { numbers, ids }]) => sum + numbers.size + ids.size, 0);
  addToCache(index, VIEWS, kept, DOCUMENT_BYTES * documents);
  return { ...own, view };
}

const NOTHING_HIDDEN = { numbers: numbersOf([]), ids: new Set<string>(), counted: 0, view: '' };

/** Returns the index data without the documents that the caller does not see. `rows`: as for `hiddenIn`. */
export function takeView(index: Index, data: IndexData, rows: readonly ViewRow[]): IndexData {
  const { view, ...hidden } = hiddenIn(index, rows);
  return view === '' ? data : without(data, view, hidden);
}

/** As `takeView`, for cached index data; undefined if it is not known what this view hides. */
export function recallView(index: Index, data: IndexData, view: string): IndexData | undefined {
  if (view === '') return data;
  const own = (cached<Views>(index, VIEWS) ?? []).find(([name]) => name === view)?.[1];
  return own && without(data, view, own);
}

function toHidden(rows: NonNullable<ViewRow['hidden']>): Hidden {
  return {
    numbers: numbersOf(rows.flatMap(([no]) => no ?? [])),
    ids: new Set(rows.map(([, document_id]) => document_id)),
    counted: rows.filter(([no, , is_trashed]) => no !== null && !is_trashed).length,
  };
}

/** Terms, counts and pending documents as if the hidden documents had never been written. */
function without(data: IndexData, view: string, { numbers, ids, counted }: Hidden): IndexData {
  const { index, pending, state } = data;
  const seen = pending.filter(({ document_id }) => !ids.has(document_id));
  const terms = new Map<string, TermData>();
  for (const [term, found] of data.terms) terms.set(term, numbers.size === 0 ? found : withoutNumbers(found, numbers));
  return {
    index: { ...index, documents: Math.max(0, index.documents - counted - (pending.length - seen.length)) },
    terms,
    pending: seen,
    state: state === undefined ? undefined : stateIn(state, view),
    view,
  };
}

/** The state of an index as the caller sees it. */
function stateIn(state: string, view: string): string {
  return view === '' ? state : `${state} ${view}`;
}

function withoutNumbers({ documents, postings }: TermData, hidden: Numbers): TermData {
  if (!postings) return { documents, postings };
  const seen = seenOf(postings, hidden);
  const left = postings.numbers.length - seen.numbers.length;
  return left === 0 ? { documents, postings } : { documents: documents - left, postings: seen };
}

function seenOf({ numbers, impacts }: Postings, hidden: Numbers): Postings {
  const seen: Postings = { numbers: new Uint32Array(numbers.length), impacts: new Uint8Array(numbers.length) };
  let count = 0;
  for (let i = 0; i < numbers.length; i += 1) {
    const number = numbers[i] as number;
    if (hidden.has(number)) continue;
    seen.numbers[count] = number;
    seen.impacts[count] = impacts[i] as number;
    count += 1;
  }
  return { numbers: seen.numbers.subarray(0, count), impacts: seen.impacts.subarray(0, count) };
}
