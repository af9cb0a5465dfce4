import type { IndexedText } from '../../analysis/document-terms.ts';
import type { Query } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import type { PageLink } from '../../markdown/page-links.ts';
import type { OutlineEntry } from '../../markdown/plain-text.ts';
import { pendingBatch } from '../../search/index/pending.ts';

/** A row of pages that an import makes. */
export interface ImportedPage {
  page_id: string;
  path: string;
  slug: string;
  parent_page_id: string | null;
  parent_path: string | null;
  title: string;
  description: string;
  position: number;
  status: string;
  origin: string;
  stale: boolean;
  revision: number;
  word_count: number;
  created_at: string;
  created_by: string;
  updated_at: string;
  updated_by: string;
}

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
  /** Of a present revision: what searches look at, and where its links lead. */
  present:
    | { text: string; indexed: IndexedText; links: readonly (PageLink & { to_page_id: string | null })[] }
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

/** The values of each field, for unnest: an array of values costs a fraction of what objects in JSON do. */
function column<T, K extends keyof T>(rows: readonly T[], name: K): T[K][] {
  return rows.map((row) => row[name]);
}

export async function insertPages(query: Query, wiki_id: string, rows: readonly ImportedPage[]): Promise<void> {
  if (rows.length === 0) return;
  await query(sql`
    insert into pages (wiki_id, page_id, path, slug, parent_page_id, parent_path, title, description, position, status, origin,
      stale, revision, word_count, created_at, created_by, updated_at, updated_by)
    select ${wiki_id}, * from unnest(${column(rows, 'page_id')}::text[], ${column(rows, 'path')}::text[],
      ${column(rows, 'slug')}::text[], ${column(rows, 'parent_page_id')}::text[], ${column(rows, 'parent_path')}::text[],
      ${column(rows, 'title')}::text[], ${column(rows, 'description')}::text[], ${column(rows, 'position')}::int[],
      ${column(rows, 'status')}::text[], ${column(rows, 'origin')}::text[], ${column(rows, 'stale')}::boolean[],
      ${column(rows, 'revision')}::int[], ${column(rows, 'word_count')}::int[], ${column(rows, 'created_at')}::timestamptz[],
      ${column(rows, 'created_by')}::text[], ${column(rows, 'updated_at')}::timestamptz[],
      ${column(rows, 'updated_by')}::text[])`);
}

/** The revisions of pages that are there; of present ones also their search texts and links. */
export async function insertRevisions(query: Query, wiki_id: string, rows: readonly ImportedRevision[]): Promise<void> {
  if (rows.length === 0) return;
  const outlines = rows.map(({ outline }) => JSON.stringify(outline));
  await query(sql`
    insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, origin, folder, created_at, created_by)
    select ${wiki_id}, * from unnest(${column(rows, 'page_id')}::text[], ${column(rows, 'revision')}::int[],
      ${column(rows, 'title')}::text[], ${column(rows, 'markdown')}::text[], ${column(rows, 'html')}::text[],
      ${outlines}::jsonb[], ${column(rows, 'origin')}::text[], ${column(rows, 'folder')}::text[],
      ${column(rows, 'created_at')}::timestamptz[], ${column(rows, 'created_by')}::text[])`);
  const present = rows.flatMap(({ page_id, revision, title, present: its }) =>
    its ? [{ page_id, revision, title, ...its }] : [],
  );
  await query(sql`
    insert into page_texts (wiki_id, page_id, text)
    select ${wiki_id}, * from unnest(${column(present, 'page_id')}::text[], ${column(present, 'text')}::text[])`);
  const documents = present.map(({ page_id, revision, title, indexed }) => ({
    document_id: page_id,
    version: revision,
    title,
    body: indexed,
  }));
  if (documents.length > 0) await query(pendingBatch('page', wiki_id, documents));
  const links = present.flatMap(({ page_id, links }) => links.map((link) => ({ page_id, ...link })));
  if (links.length === 0) return;
  await query(sql`
    insert into page_links (wiki_id, from_page_id, to_path, to_page_id, places, wanted_title, wanted_path)
    select ${wiki_id}, g.page_id, g.to_path, g.to_page_id, g.places, lower(g.wanted_title), g.wanted_path
    from jsonb_to_recordset(${JSON.stringify(links)}::jsonb)
      as g (page_id text, to_path text, to_page_id text, places int[], wanted_title text, wanted_path text)`);
}

export async function insertAttachments(
  query: Query,
  wiki_id: string,
  rows: readonly ImportedAttachment[],
): Promise<void> {
  if (rows.length === 0) return;
  await query(sql`
    insert into attachments (wiki_id, attachment_id, page_id, filename, content_type, byte_size, sha256, created_at, created_by)
    select ${wiki_id}, * from unnest(${column(rows, 'attachment_id')}::text[], ${column(rows, 'page_id')}::text[],
      ${column(rows, 'filename')}::text[], ${column(rows, 'content_type')}::text[], ${column(rows, 'byte_size')}::bigint[],
      ${column(rows, 'sha256')}::text[], ${column(rows, 'created_at')}::timestamptz[], ${column(rows, 'created_by')}::text[])`);
}
