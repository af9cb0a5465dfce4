import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  ANALYSIS,
  indexBody,
  indexTitle,
  type PageStructure,
  packTerms,
  readWords,
  reverseText,
  unpackTerms,
  withStructure,
} from '../../analysis/document-terms.ts';
import type { Db, Query } from '../../db/db.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import { FIRST_PIVOTS, lengthOf, type Pivots, readTerms } from './impacts.ts';
import { type IndexedState, mergePostings, type StoredTerms } from './merge-postings.ts';
import type { DocumentKind } from './pending.ts';

/** The limits of one transaction. */
const MAX_MERGED_DOCUMENTS = 500;
const MAX_MERGED_CHARACTERS = 4_000_000;

/**
 * If an average changes by more than this factor, impacts are recomputed. In a large wiki that costs much, and averages
 * that are wrong by less cost little.
 */
const MAX_PIVOT_DRIFT = 1.1;
const MAX_PIVOT_DRIFT_LARGE = 1.5;
const LARGE_INDEX_DOCUMENTS = 20_000;
/**
 * With up to this many documents all impacts are recomputed at once: averages still vary a lot, and it costs little.
 */
const SMALL_INDEX_DOCUMENTS = 200;

interface Totals {
  documents: number;
  title_terms: number;
  body_terms: number;
}

interface IndexRow extends Totals, Pivots {
  next_no: number;
}

interface Pending {
  document_id: string;
  version: number;
  /** Null: compute from the document's text. */
  title_terms: string | null;
  body_terms: string | null;
  /** Instead of `body_terms`, where only the title was changed: as the index has them. */
  body: Buffer | null;
  vocabulary: string | null;
  /** Null if the document was deleted. */
  title: string | null;
  text: string | null;
  /** With `text`, of a page. */
  outline: PageStructure['outline'] | null;
  html: string | null;
}

interface IndexedDocument extends IndexedState {
  document_id: string;
  document_no: number;
}

/** The state of a document in the index after the merge. */
interface TargetState extends Omit<IndexedDocument, keyof Pivots | 'analysis'> {
  isDeleted: boolean;
  words: string[];
}

/**
 * Merges pending documents into the index in one transaction, which blocks neither reads nor writes of documents.
 * Returns the number of merged documents: 0 if none is pending, or if another transaction merges this index and
 * `ifLocked` is "skip".
 */
export async function mergePending(
  db: Db,
  wiki_id: string,
  kind: DocumentKind,
  ifLocked: 'wait' | 'skip' = 'skip',
): Promise<number> {
  return db.transaction(async (query) => {
    const index = await lockIndex(query, wiki_id, kind, ifLocked);
    if (!index) return 0;
    const pending = await takePending(query, wiki_id, kind);
    if (pending.length === 0) return 0;
    const ids = pending.map(({ document_id }) => document_id);
    const indexed = await readIndexedDocuments(query, wiki_id, kind, sql`document_id = any (${ids}::text[])`);
    const existing = new Map(indexed.map((document) => [document.document_id, document]));
    let { next_no } = index;
    const targets: TargetState[] = [];
    for (const document of pending) {
      // Splitting a text into terms takes about a millisecond, and the event loop has requests to serve.
      if (document.text !== null) await yieldToEventLoop();
      const no = existing.get(document.document_id)?.document_no;
      targets.push(targetStateOf(document, no ?? (document.title === null ? -1 : next_no++)));
    }
    const totals = totalsOf(index, indexed, targets);
    const averages = averagesOf(totals);
    const isLarge = totals.documents >= LARGE_INDEX_DOCUMENTS;
    const hasDrifted = exceedsDrift(averages, index, isLarge ? MAX_PIVOT_DRIFT_LARGE : MAX_PIVOT_DRIFT);
    const isSmall = index.documents <= SMALL_INDEX_DOCUMENTS;
    const pivots = hasDrifted && isSmall ? averages : index;
    if (hasDrifted && isSmall) {
      // The impacts of the other documents were computed with older averages.
      for (const other of await readIndexedDocuments(query, wiki_id, kind, sql`document_id <> all (${ids}::text[])`)) {
        existing.set(other.document_id, other);
        targets.push({ ...other, isDeleted: false, words: [] });
      }
    }
    const changed = targets.filter(({ document_no }) => document_no >= 0);
    await mergePostings(
      query,
      { wiki_id, kind, pivots },
      changed.map((next) => ({ document_no: next.document_no, previous: existing.get(next.document_id), next })),
    );
    await writeDocuments(query, wiki_id, kind, targets, pivots);
    await query(sql`
      delete from search_pending p using unnest(${ids}::text[], ${pending.map(({ version }) => version)}::int[]) t (id, version)
      where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.document_id = t.id and p.version <= t.version`);
    await query(sql`
      update search_wikis set next_no = ${next_no}, documents = ${totals.documents}, title_terms = ${totals.title_terms},
        body_terms = ${totals.body_terms}, pivot_title = ${pivots.pivot_title}, pivot_body = ${pivots.pivot_body},
        is_stale = is_stale or ${hasDrifted && !isSmall}
      where wiki_id = ${wiki_id} and kind = ${kind}`);
    return pending.length;
  });
}

/**
 * Locks the index, because only one transaction may merge it. Undefined if the wiki is deleted, or the index is locked
 * and `ifLocked` is "skip".
 */
async function lockIndex(
  query: Query,
  wiki_id: string,
  kind: DocumentKind,
  ifLocked: 'wait' | 'skip',
): Promise<IndexRow | undefined> {
  await query(sql`
    insert into search_wikis (wiki_id, kind, pivot_title, pivot_body)
    select ${wiki_id}, ${kind}, ${FIRST_PIVOTS.pivot_title}, ${FIRST_PIVOTS.pivot_body}
    where exists (select from wikis where wiki_id = ${wiki_id}) on conflict do nothing`);
  const [index] = await query<IndexRow>(sql`
    select next_no, documents, title_terms, body_terms, pivot_title, pivot_body from search_wikis
    where wiki_id = ${wiki_id} and kind = ${kind} for update ${raw(ifLocked === 'wait' ? '' : 'skip locked')}`);
  return index;
}

/** The latest pending version of each document, with its text if the version has no terms. */
async function takePending(query: Query, wiki_id: string, kind: DocumentKind): Promise<Pending[]> {
  const [table, texts, id] = [raw(`${kind}s`), raw(`${kind}_texts`), raw(`${kind}_id`)];
  const isPage = kind === 'page';
  const structure = raw(isPage ? 'r.outline, r.html' : 'null as outline, null as html');
  const revision = isPage
    ? sql`left join pages p on p.wiki_id = t.wiki_id and p.page_id = t.page_id
      left join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision`
    : raw('');
  return query<Pending>(sql`
    with latest as (
      select distinct on (document_id) document_id, version, title_terms, vocabulary, analysis,
        case when analysis = ${ANALYSIS} then body_terms end as body_terms,
        case when analysis = ${ANALYSIS} then body end as body
      from search_pending where wiki_id = ${wiki_id} and kind = ${kind}
      order by document_id, version desc limit ${MAX_MERGED_DOCUMENTS}
    ), sized as (
      select l.*, d.title, sum(coalesce(length(l.body_terms), 2000)) over (order by l.document_id) as characters
      from latest l left join ${table} d on d.wiki_id = ${wiki_id} and d.${id} = l.document_id
    )
    select s.document_id, s.version, s.body_terms, s.body, s.title,
      case when s.analysis = ${ANALYSIS} then s.title_terms end as title_terms,
      case when s.analysis = ${ANALYSIS} then s.vocabulary end as vocabulary,
      case when s.body_terms is null and s.body is null then coalesce(t.text, '') end as text, ${structure}
    from sized s left join ${texts} t on t.wiki_id = ${wiki_id} and t.${id} = s.document_id and s.body_terms is null
      and s.body is null ${revision}
    where s.characters - coalesce(length(s.body_terms), 2000) < ${MAX_MERGED_CHARACTERS}
    order by s.document_id`);
}

function targetStateOf(pending: Pending, document_no: number): TargetState {
  const { document_id, title, text, outline, html } = pending;
  const isDeleted = title === null;
  const head = isDeleted || pending.title_terms !== null ? undefined : indexTitle(title);
  const body =
    isDeleted || text === null
      ? undefined
      : withStructure(indexBody(text), { outline: outline ?? [], html: html ?? '' });
  const words = isDeleted ? [] : [pending.vocabulary, head?.vocabulary, body?.vocabulary];
  return {
    document_id,
    document_no,
    isDeleted,
    title_terms: isDeleted ? '' : (head?.terms ?? pending.title_terms ?? ''),
    body_terms: isDeleted ? '' : (body?.terms ?? pending.body_terms ?? (pending.body ? unpackTerms(pending.body) : '')),
    words: words.flatMap((some) => readWords(some ?? '')),
  };
}

function totalsOf(index: Totals, indexed: readonly StoredTerms[], targets: readonly TargetState[]): Totals {
  const totals = { ...index, documents: index.documents - indexed.length };
  const count = (documents: readonly StoredTerms[], sign: 1 | -1) => {
    for (const document of documents) {
      const { title, body } = readTerms(document);
      totals.title_terms += sign * lengthOf(title);
      totals.body_terms += sign * lengthOf(body);
    }
  };
  count(indexed, -1);
  count(targets, 1);
  totals.documents += targets.filter(({ isDeleted }) => !isDeleted).length;
  return totals;
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
  which: Sql,
): Promise<IndexedDocument[]> {
  const rows = await query<IndexedDocument & { body: Buffer | null }>(sql`
    select document_id, document_no, title_terms, body_terms, body, pivot_title, pivot_body, analysis from search_documents
    where wiki_id = ${wiki_id} and kind = ${kind} and ${which}`);
  return rows.map(({ body, ...row }) => ({ ...row, body_terms: body ? unpackTerms(body) : row.body_terms }));
}

async function writeDocuments(
  query: Query,
  wiki_id: string,
  kind: DocumentKind,
  targets: readonly TargetState[],
  { pivot_title, pivot_body }: Pivots,
): Promise<void> {
  const deleted = targets.filter(({ isDeleted }) => isDeleted).map(({ document_id }) => document_id);
  const existing = targets.filter(({ isDeleted }) => !isDeleted);
  await query(sql`
    delete from search_documents where wiki_id = ${wiki_id} and kind = ${kind} and document_id = any (${deleted}::text[])`);
  const bodies = existing.map(({ body_terms }) => packTerms(body_terms));
  // A single bytea is sent in binary; an array of them would be sent as text.
  await query(sql`
    insert into search_documents (wiki_id, kind, document_no, document_id, title_terms, body_terms, body, pivot_title, pivot_body, analysis)
    select ${wiki_id}, ${kind}, w.document_no, w.document_id, w.title_terms, '',
      substring(${Buffer.concat(bodies)}::bytea from (w.ends - w.length + 1)::int for w.length), ${pivot_title}, ${pivot_body}, ${ANALYSIS}
    from (
      select g.*, sum(g.length) over (order by g.no) as ends
      from unnest(${existing.map(({ document_no }) => document_no)}::int[], ${existing.map(({ document_id }) => document_id)}::text[],
        ${existing.map(({ title_terms }) => title_terms)}::text[], ${bodies.map((body) => body.length)}::int[])
        with ordinality g (document_no, document_id, title_terms, length, no)
    ) w
    on conflict (wiki_id, kind, document_no) do update set title_terms = excluded.title_terms, body_terms = excluded.body_terms,
      body = excluded.body, pivot_title = excluded.pivot_title, pivot_body = excluded.pivot_body, analysis = excluded.analysis`);
  const words = [...new Set(existing.flatMap((document) => document.words))];
  await query(sql`
    insert into search_words (wiki_id, kind, word, backwards)
    select ${wiki_id}, ${kind}, w.* from unnest(${words}::text[], ${words.map(reverseText)}::text[]) w (word, backwards)
    on conflict do nothing`);
}
