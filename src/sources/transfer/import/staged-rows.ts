import type { IndexedText } from '@ibid/markdown/analysis/document-terms.ts';
import type { PageLink } from '@ibid/markdown/page-links.ts';
import type { OutlineEntry, Property } from '@ibid/markdown/plain-text.ts';
import type { Db, Query } from '../../../platform/db/db.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { ClaimedJob } from '../../../platform/jobs/define-job.ts';
import { lockJob, showProgress } from '../../../platform/jobs/record-queue.ts';
import { pendingTerms } from '../../../wiki/search/index/pending.ts';
import type { ArchivedRevision } from '../export/archive-format.ts';

/** A future row of pages. */
export interface ImportedPage {
  page_id: string;
  path: string;
  slug: string;
  parent_page_id: string | null;
  parent_path: string | null;
  title: string;
  description: string;
  tags: readonly string[];
  properties: readonly Property[];
  position: number;
  status: string;
  origin: string;
  stale: boolean;
  gone_file: string | null;
  revision: number;
  word_count: number;
  created_at: string;
  created_by: string;
  updated_at: string;
  updated_by: string;
  former_paths: readonly string[];
}

/**
 * The archive's statement about a revision: its author, as an id in imported_people, its time, and the importing user.
 */
type Claim = NonNullable<ArchivedRevision['claim']>;

export interface ImportedRevision {
  page_id: string;
  revision: number;
  title: string;
  markdown: string;
  html: string;
  outline: readonly OutlineEntry[];
  origin: string;
  folder: string;
  created_at: string;
  created_by: string;
  /** The statement of the archive; null if the values are known to be true. */
  claim: Claim | null;
  /** For a current revision: its page, its search text and its links. */
  present:
    | {
        page: ImportedPage;
        text: string;
        indexed: IndexedText;
        links: readonly (PageLink & { to_page_id: string | null })[];
      }
    | undefined;
}

export interface ImportedAttachment {
  attachment_id: string;
  page_id: string;
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
  created_at: string;
  created_by: string;
}

/** Writes prepared rows to the staging tables. Each call is one transaction, which also shows the progress (0 to 1). */
export interface Staging {
  revisions(rows: readonly ImportedRevision[], progress: number): Promise<void>;
  attachments(rows: readonly ImportedAttachment[], progress: number): Promise<void>;
}

export const ATTACHMENTS = 100;

const BATCH = 1_000;
const ROWS = ['import_revisions', 'import_pages', 'import_attachments'].map(raw);

/**
 * Removes the rows of an earlier attempt and starts over. Throws LeaseLost, and the reason of the signal if it is
 * aborted; the returned functions throw the same.
 */
export async function openStaging(db: Db, job: ClaimedJob, signal: AbortSignal): Promise<Staging> {
  const { wiki_id, job_id } = job;
  async function write(progress: number, inserts: (query: Query) => Promise<unknown>): Promise<void> {
    signal.throwIfAborted();
    await db.transaction(async (query) => {
      await showProgress(query, job, Math.min(99, Math.floor(100 * progress)));
      await inserts(query);
    });
  }
  for (const table of ROWS) {
    const remove = deletion(table, wiki_id, sql`import_id = ${job_id}`);
    const removeBatch = () =>
      db.transaction(async (query) => {
        // From here on, an earlier attempt that was believed lost can no longer write.
        await lockJob(query, job);
        return (await query(remove)).length;
      });
    while ((await removeBatch()) === BATCH) signal.throwIfAborted();
  }
  const header = sql`insert into staged_imports (wiki_id, import_id) values (${wiki_id}, ${job_id}) on conflict do nothing`;
  await write(0, (query) => query(header));
  return {
    revisions: (rows, progress) =>
      write(progress, async (query) => {
        await insertPages(
          query,
          job,
          rows.flatMap(({ present }) => (present ? [present.page] : [])),
        );
        await insertRevisions(query, job, rows);
      }),
    attachments: (rows, progress) => write(progress, (query) => insertAttachments(query, job, rows)),
  };
}

/** Deletes the staged rows of a wiki's imports that have ended, whether published or not. */
export async function removeStagedRows(query: Query, wiki_id: string, signal?: AbortSignal): Promise<void> {
  const ended = sql`import_id in (
    select s.import_id from staged_imports s join jobs j on j.wiki_id = s.wiki_id and j.job_id = s.import_id
    where s.wiki_id = ${wiki_id} and j.finished_at is not null)`;
  for (const table of ROWS) {
    const remove = deletion(table, wiki_id, ended);
    while ((await query(remove)).length === BATCH) if (signal?.aborted) return;
  }
  await query(sql`delete from staged_imports where wiki_id = ${wiki_id} and ${ended}`);
}

function deletion(table: Sql, wiki_id: string, condition: Sql): Sql {
  return sql`
    delete from ${table} where ctid = any (array(
      select ctid from ${table} where wiki_id = ${wiki_id} and ${condition} limit ${BATCH})) returning 1`;
}

/** Returns one field of all rows, for `unnest`. An array for each column costs a fraction of JSON objects. */
function column<T, K extends keyof T>(rows: readonly T[], name: K): T[K][] {
  return rows.map((row) => row[name]);
}

async function insertPages(query: Query, job: ClaimedJob, rows: readonly ImportedPage[]): Promise<void> {
  if (rows.length === 0) return;
  await query(sql`
    insert into import_pages (wiki_id, import_id, page_id, path, slug, parent_page_id, parent_path, title, description,
      position, status, origin, stale, gone_file, revision, word_count, created_at, created_by, updated_at, updated_by,
      former_paths, tags, properties)
    select ${job.wiki_id}, ${job.job_id}, * from unnest(${column(rows, 'page_id')}::text[], ${column(rows, 'path')}::text[],
      ${column(rows, 'slug')}::text[], ${column(rows, 'parent_page_id')}::text[], ${column(rows, 'parent_path')}::text[],
      ${column(rows, 'title')}::text[], ${column(rows, 'description')}::text[], ${column(rows, 'position')}::int[],
      ${column(rows, 'status')}::text[], ${column(rows, 'origin')}::text[], ${column(rows, 'stale')}::boolean[],
      ${column(rows, 'gone_file')}::text[],
      ${column(rows, 'revision')}::int[], ${column(rows, 'word_count')}::int[], ${column(rows, 'created_at')}::timestamptz[],
      ${column(rows, 'created_by')}::text[], ${column(rows, 'updated_at')}::timestamptz[],
      ${column(rows, 'updated_by')}::text[], ${rows.map((row) => JSON.stringify(row.former_paths))}::jsonb[],
      ${rows.map(({ tags }) => JSON.stringify(tags))}::jsonb[],
      ${rows.map(({ properties }) => JSON.stringify(properties))}::jsonb[])`);
}

async function insertRevisions(query: Query, job: ClaimedJob, rows: readonly ImportedRevision[]): Promise<void> {
  if (rows.length === 0) return;
  const terms = rows.map(({ title, present }) => present && pendingTerms(title, present.indexed));
  await query(sql`
    insert into import_revisions (wiki_id, import_id, page_id, revision, title, markdown, html, outline, origin, folder,
      created_at, created_by, claim, text, title_terms, body_terms, vocabulary, links)
    select ${job.wiki_id}, ${job.job_id}, * from unnest(${column(rows, 'page_id')}::text[], ${column(rows, 'revision')}::int[],
      ${column(rows, 'title')}::text[], ${column(rows, 'markdown')}::text[], ${column(rows, 'html')}::text[],
      ${rows.map(({ outline }) => JSON.stringify(outline))}::jsonb[], ${column(rows, 'origin')}::text[],
      ${column(rows, 'folder')}::text[], ${column(rows, 'created_at')}::timestamptz[], ${column(rows, 'created_by')}::text[],
      ${rows.map(({ claim }) => claim && JSON.stringify(claim))}::jsonb[],
      ${rows.map(({ present }) => present?.text ?? null)}::text[], ${terms.map((each) => each?.title_terms ?? null)}::text[],
      ${terms.map((each) => each?.body_terms ?? null)}::text[], ${terms.map((each) => each?.vocabulary ?? null)}::text[],
      ${rows.map(({ present }) => (present ? JSON.stringify(present.links) : null))}::jsonb[])`);
}

async function insertAttachments(query: Query, job: ClaimedJob, rows: readonly ImportedAttachment[]): Promise<void> {
  if (rows.length === 0) return;
  await query(sql`
    insert into import_attachments
      (wiki_id, import_id, attachment_id, page_id, filename, content_type, byte_size, sha256, created_at, created_by)
    select ${job.wiki_id}, ${job.job_id}, * from unnest(${column(rows, 'attachment_id')}::text[],
      ${column(rows, 'page_id')}::text[], ${column(rows, 'filename')}::text[], ${column(rows, 'content_type')}::text[],
      ${column(rows, 'byte_size')}::bigint[], ${column(rows, 'sha256')}::text[], ${column(rows, 'created_at')}::timestamptz[],
      ${column(rows, 'created_by')}::text[])`);
}
