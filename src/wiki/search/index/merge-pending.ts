import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { unpackTerms } from '@ibid/markdown/analysis/document-terms.ts';
import type { Db, Query } from '../../../platform/db/db.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { FIRST_PIVOTS, impactsOf, lengthOf, type Pivots, readTerms } from './impacts.ts';
import { mergePostings } from './merge-postings.ts';
import type { DocumentKind, Index } from './pending.ts';
import {
  type Lengths,
  MAX_MERGED_DOCUMENTS,
  type Pending,
  type TargetState,
  takePending,
  targetStateOf,
} from './take-pending.ts';
import { addWords } from './vocabulary.ts';

/**
 * Impacts are recomputed if an average changes by more than this factor. A large wiki tolerates more drift: recomputing
 * it is expensive, and slightly outdated averages matter little.
 */
const MAX_PIVOT_DRIFT = 1.1;
const MAX_PIVOT_DRIFT_LARGE = 1.5;
const LARGE_INDEX_DOCUMENTS = 20_000;
/**
 * In an index of up to this many documents, a drift recomputes all impacts at once instead of queuing a job: averages
 * still vary a lot, and recomputing is cheap.
 */
const SMALL_INDEX_DOCUMENTS = 200;

interface Totals {
  documents: number;
  title_terms: number;
  body_terms: number;
}

interface IndexRow extends Totals, Pivots {
  next_no: number;
  loose_words: number | null;
}

interface IndexedDocument extends Lengths {
  document_id: string;
  document_no: number;
}

/**
 * Time limit for computing the terms of one batch, in milliseconds. Documents that a slow machine does not reach are
 * left to the next batch.
 */
const COMPUTING_MS = 5_000;

/**
 * Raises the timeouts: a merge that is cancelled for being slow would start again with the same documents. Its locks
 * block no other work, and the job has its own time limit.
 */
const PATIENCE = sql`
  select set_config('idle_in_transaction_session_timeout', '0', true), set_config('statement_timeout', '10min', true)`;

/**
 * Reduced batch sizes of indexes whose merge failed, perhaps because the batch was too slow. Each failure halves the
 * size; each success doubles it, up to MAX_MERGED_DOCUMENTS.
 */
const batchSizes = new Map<string, number>();

/**
 * Merges pending documents into the index in one transaction, which blocks neither reads nor writes of documents; terms
 * are computed before it begins. Returns the number of document versions that are no longer pending: 0 if there were
 * none, if the wiki was deleted, or if another transaction is merging this index and `ifLocked` is "skip". Stops computing
 * terms after `computingMs`, but always computes at least one document.
 */
export async function mergePending(
  db: Db,
  wiki_id: string,
  kind: DocumentKind,
  ifLocked: 'wait' | 'skip' = 'skip',
  computingMs = COMPUTING_MS,
): Promise<number> {
  const name = `${kind} ${wiki_id}`;
  const most = batchSizes.get(name) ?? MAX_MERGED_DOCUMENTS;
  const computed = await computeTargets(await takePending(db.query, wiki_id, kind, most), computingMs);
  if (computed.length === 0) return 0;
  try {
    return await db.transaction(async (query) => {
      await query(PATIENCE);
      const index = await lockIndex(query, wiki_id, kind, ifLocked);
      if (!index) return 0;
      const targets = await stillPending(query, wiki_id, kind, computed);
      if (targets.length > 0) await mergeTargets(query, { wiki_id, kind }, index, targets);
      if (2 * most < MAX_MERGED_DOCUMENTS) batchSizes.set(name, 2 * most);
      else batchSizes.delete(name);
      return computed.length;
    });
  } catch (error) {
    batchSizes.set(name, Math.max(1, Math.floor(computed.length / 2)));
    throw error;
  }
}

interface Target extends TargetState {
  /** Version of the pending row that the terms were computed from. */
  version: number;
}

async function computeTargets(pending: readonly Pending[], milliseconds: number): Promise<Target[]> {
  const until = performance.now() + milliseconds;
  const targets: Target[] = [];
  for (const document of pending) {
    // Splitting a text into terms takes about a millisecond, and the event loop has requests to serve.
    await yieldToEventLoop();
    targets.push({ ...targetStateOf(document), version: document.version });
    if (performance.now() > until) break;
  }
  return targets;
}

/** Filters out documents that another transaction has merged in the meantime, possibly in a later version. */
async function stillPending(
  query: Query,
  wiki_id: string,
  kind: DocumentKind,
  targets: readonly Target[],
): Promise<readonly Target[]> {
  const rows = await query<{ document_id: string }>(sql`
    select t.document_id
    from unnest(${targets.map(({ document_id }) => document_id)}::text[], ${targets.map(({ version }) => version)}::int[])
      t (document_id, version)
    join search_pending p on p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.document_id = t.document_id
      and p.version = t.version`);
  const pending = new Set(rows.map(({ document_id }) => document_id));
  return targets.filter(({ document_id }) => pending.has(document_id));
}

async function mergeTargets(
  query: Query,
  { wiki_id, kind }: Index,
  index: IndexRow,
  targets: readonly Target[],
): Promise<void> {
  const ids = targets.map(({ document_id }) => document_id);
  const indexed = await readIndexedDocuments(query, wiki_id, kind, ids);
  const numbers = new Map(indexed.map(({ document_id, document_no }) => [document_id, document_no]));
  let { next_no } = index;
  for (const { isDeleted, document_id } of targets) {
    if (!isDeleted && !numbers.has(document_id)) numbers.set(document_id, next_no++);
  }
  const totals = updatedTotals(index, indexed, targets);
  const averages = averagesOf(totals);
  const isLarge = totals.documents >= LARGE_INDEX_DOCUMENTS;
  const hasDrifted = exceedsDrift(averages, index, isLarge ? MAX_PIVOT_DRIFT_LARGE : MAX_PIVOT_DRIFT);
  const isSmall = index.documents <= SMALL_INDEX_DOCUMENTS;
  const pivots = hasDrifted && isSmall ? averages : index;
  const existing = new Set(indexed.map(({ document_id }) => document_id));
  await mergePostings(
    query,
    { wiki_id, kind },
    targets.flatMap(({ document_id, isDeleted, terms }) => {
      const document_no = numbers.get(document_id);
      if (document_no === undefined) return [];
      const impacts = isDeleted ? new Map<string, number>() : impactsOf(terms, pivots);
      return [{ document_no, isIndexed: existing.has(document_id), impacts }];
    }),
  );
  await writeDocuments(query, wiki_id, kind, targets, numbers);
  const words = [...new Set(targets.flatMap((document) => document.words))];
  const loose_words = await addWords(query, { wiki_id, kind }, words, index.loose_words);
  await query(sql`
    delete from search_pending p using unnest(${ids}::text[], ${targets.map(({ version }) => version)}::int[]) t (id, version)
    where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.document_id = t.id and p.version <= t.version`);
  // The impacts of the other documents were computed with older averages.
  if (hasDrifted && isSmall) await queueOthers(query, wiki_id, kind, ids);
  await query(sql`
    update search_wikis set next_no = ${next_no}, documents = ${totals.documents}, title_terms = ${totals.title_terms},
      body_terms = ${totals.body_terms}, pivot_title = ${pivots.pivot_title}, pivot_body = ${pivots.pivot_body},
      loose_words = ${loose_words}, is_stale = is_stale or ${hasDrifted && !isSmall}
    where wiki_id = ${wiki_id} and kind = ${kind}`);
}

/**
 * Locks the index, because only one transaction at a time may merge it. Returns undefined if the wiki is deleted, or if
 * the index is locked and `ifLocked` is "skip".
 */
async function lockIndex(
  query: Query,
  wiki_id: string,
  kind: DocumentKind,
  ifLocked: 'wait' | 'skip',
): Promise<IndexRow | undefined> {
  await query(sql`
    insert into search_wikis (wiki_id, kind, pivot_title, pivot_body, loose_words)
    select ${wiki_id}, ${kind}, ${FIRST_PIVOTS.pivot_title}, ${FIRST_PIVOTS.pivot_body}, 0
    where exists (select from wikis where wiki_id = ${wiki_id}) on conflict do nothing`);
  const [index] = await query<IndexRow>(sql`
    select next_no, documents, title_terms, body_terms, pivot_title, pivot_body, loose_words from search_wikis
    where wiki_id = ${wiki_id} and kind = ${kind} for update ${raw(ifLocked === 'wait' ? '' : 'skip locked')}`);
  return index;
}

function updatedTotals(index: Totals, indexed: readonly Lengths[], targets: readonly TargetState[]): Totals {
  const sum = (all: readonly Lengths[], length: keyof Lengths) => all.reduce((total, each) => total + each[length], 0);
  return {
    documents: index.documents - indexed.length + targets.filter(({ isDeleted }) => !isDeleted).length,
    title_terms: index.title_terms - sum(indexed, 'title_length') + sum(targets, 'title_length'),
    body_terms: index.body_terms - sum(indexed, 'body_length') + sum(targets, 'body_length'),
  };
}

function averagesOf({ documents, title_terms, body_terms }: Totals): Pivots {
  if (documents === 0) return FIRST_PIVOTS;
  return { pivot_title: Math.max(1, title_terms / documents), pivot_body: Math.max(1, body_terms / documents) };
}

function exceedsDrift(one: Pivots, other: Pivots, most: number): boolean {
  const ratios = [one.pivot_title / other.pivot_title, one.pivot_body / other.pivot_body];
  return ratios.some((ratio) => ratio > most || ratio < 1 / most);
}

async function readIndexedDocuments(
  query: Query,
  wiki_id: string,
  kind: DocumentKind,
  ids: readonly string[],
): Promise<IndexedDocument[]> {
  const rows = await query<IndexedDocument & { title_terms: string; body_terms: string; body: Buffer | null }>(sql`
    select document_id, document_no, title_length, body_length, title_terms, body_terms, body from search_documents
    where wiki_id = ${wiki_id} and kind = ${kind} and document_id = any (${ids}::text[])`);
  return rows.map(({ title_terms, body_terms, body, ...row }) => {
    if (row.title_length !== null) return row;
    // Rows of earlier releases store the terms instead of their lengths.
    const terms = readTerms({ title_terms, body_terms: body ? unpackTerms(body) : body_terms });
    return { ...row, title_length: lengthOf(terms.title), body_length: lengthOf(terms.body) };
  });
}

async function writeDocuments(
  query: Query,
  wiki_id: string,
  kind: DocumentKind,
  targets: readonly TargetState[],
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  const deleted = targets.filter(({ isDeleted }) => isDeleted).map(({ document_id }) => document_id);
  const existing = targets.filter(({ isDeleted }) => !isDeleted);
  await query(sql`
    delete from search_documents where wiki_id = ${wiki_id} and kind = ${kind} and document_id = any (${deleted}::text[])`);
  await query(sql`
    insert into search_documents as d (wiki_id, kind, document_no, document_id, title_length, body_length)
    select ${wiki_id}, ${kind}, * from unnest(${existing.map(({ document_id }) => numbers.get(document_id))}::int[],
      ${existing.map(({ document_id }) => document_id)}::text[], ${existing.map(({ title_length }) => title_length)}::int[],
      ${existing.map(({ body_length }) => body_length)}::int[])
    on conflict (wiki_id, kind, document_no) do update set title_length = excluded.title_length, body_length = excluded.body_length,
      title_terms = '', body_terms = '', body = null
    where (d.title_length, d.body_length) is distinct from (excluded.title_length, excluded.body_length)`);
}

/**
 * Queues all indexed documents except `ids` for another merge. The array makes PostgreSQL read the list of ids once. A
 * join would be planned for one row if the wiki was just imported, and could read the pages again for each document.
 */
async function queueOthers(query: Query, wiki_id: string, kind: DocumentKind, ids: readonly string[]): Promise<void> {
  const [table, id] = [raw(`${kind}s`), raw(`d.${kind}_id`)];
  await query(sql`
    insert into search_pending (wiki_id, kind, document_id, version)
    select ${wiki_id}, ${kind}, ${id}, ${raw(kind === 'page' ? 'd.revision' : '1')} from ${table} d
    where d.wiki_id = ${wiki_id} and ${id} = any (array(
      select i.document_id from search_documents i where i.wiki_id = ${wiki_id} and i.kind = ${kind}
      except select unnest(${ids}::text[])))
    on conflict do nothing`);
}
