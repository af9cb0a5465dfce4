import { type Linking, namesMeant } from '@ibid/documents/links/find-file.ts';
import type { Query } from '../../../platform/db/db.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';
import { isNotRenamed, withRun } from '../sync-folder.ts';

/** Limit of earlier names that one lookup loads; files beyond it are linked only within their own upload. */
const EARLIER_MAX = 50_000;

/** Files to look up: all files of the wiki, or files with these names or name endings. */
export type Asked = 'all' | { names: readonly string[]; ends: readonly string[] };

interface UploadId {
  wiki_id: string;
  upload_id: string;
}

/** Returns the filenames and name endings that references of a file may mean. */
export function askedBy(
  file: Linking,
  references: readonly string[],
  pages: ReadonlyMap<string, string>,
): { names: string[]; ends: string[] } {
  const meant = references.map((reference) => namesMeant(reference, file, pages));
  return { names: meant.flatMap(({ names }) => names), ends: meant.flatMap(({ ends }) => ends) };
}

/**
 * The path that links to a page `p` use. The text has a wider audience than a draft, so a draft is linked by its first
 * path, which came from its file, and not by a path that a user chose.
 */
const linkedPath = sql`case when p.status <> 'draft' then p.path else coalesce((
  select a.path from page_paths a where a.wiki_id = p.wiki_id and a.page_id = p.page_id order by a.moved_at, a.path limit 1), p.path) end`;

/** Maps files and folders to the paths that links to them use. */
export async function linkedPaths(
  query: Query,
  wiki_id: string,
  pages: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const drafts = await query<{ path: string; linked: string }>(sql`
    select p.path, ${linkedPath} as linked from pages p
    where p.wiki_id = ${wiki_id} and p.status = 'draft' and p.trashed_at is null and p.path = any (${[...pages.values()]}::text[])`);
  const linkedOf = new Map(drafts.map(({ path, linked }) => [path, linked]));
  return new Map([...pages].map(([name, path]) => [name, linkedOf.get(path) ?? path]));
}

/**
 * Returns the pages of files and folders of earlier uploads by filename. Files that this upload renames count under the
 * old name at their old path even when their pages are already written, so that the rest compiles as before after a
 * crash.
 */
export async function earlierPages(
  query: Query,
  { wiki_id, upload_id }: UploadId,
  asked: Asked,
): Promise<Map<string, string>> {
  if (asked !== 'all' && asked.names.length === 0) return new Map();
  const rows = await query<{ filename: string; path: string }>(sql`
    with renamed as materialized (
      select distinct on (r.renamed_from, r.page_id) r.renamed_from, r.page_id, a.path
      from uploads u join upload_files r on r.wiki_id = u.wiki_id and r.upload_id = u.upload_id
      left join page_paths a on a.wiki_id = r.wiki_id and a.page_id = r.page_id and a.moved_at >= u.created_at
      where u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id} and r.renamed_from <> '' and r.status = 'done'
      order by r.renamed_from, r.page_id, a.moved_at, a.path
    )
    select distinct on (f.filename) f.filename, coalesce(w.path, ${linkedPath}) as path
    from ${asked === 'all' ? sql`upload_files f` : sql`(${filesNamed(wiki_id, asked.names)}) f`}
    ${withRun}
    join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
    left join renamed w on w.renamed_from = f.filename and w.page_id = f.page_id
    where f.wiki_id = ${wiki_id} and f.status = 'done' and f.kind in ('file', 'folder') and not f.is_attachment and p.trashed_at is null
      and (w.page_id is not null or ${isNotRenamed})
    order by f.filename, ran.ran_at desc limit ${EARLIER_MAX}`);
  return new Map(rows.map(({ filename, path }) => [filename, path]));
}

/** A file of an earlier upload, such as a picture, that is not a page itself. */
export interface EarlierFile {
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
}

/** Returns files of earlier uploads that texts can show, if a page of the wiki still has their bytes. */
export function earlierAttached(
  query: Query,
  { wiki_id, upload_id }: UploadId,
  asked: Asked,
): Promise<EarlierFile[]> | EarlierFile[] {
  if (asked !== 'all' && asked.names.length + asked.ends.length === 0) return [];
  return query<EarlierFile>(sql`
    select distinct on (f.filename) f.filename, f.content_type, f.byte_size, f.sha256
    from ${asked === 'all' ? sql`upload_files f` : attachedFilesAsked(wiki_id, asked)}
    ${withRun}
    where f.wiki_id = ${wiki_id} and f.is_attachment and f.status = 'done' and f.upload_id <> ${upload_id}
      and exists (
        select from attachments a join pages p on p.wiki_id = a.wiki_id and p.page_id = a.page_id
        where a.wiki_id = f.wiki_id and a.sha256 = f.sha256 and (p.acl_no = 0 or p.acl_no = (${onlyRestriction(wiki_id, upload_id)})))
    order by f.filename, ran.ran_at desc limit ${EARLIER_MAX}`);
}

/**
 * Selects the number of the restriction that all pages of an upload belong to, or null. Only such uploads take files from
 * there, because others would show them to more people.
 */
function onlyRestriction(wiki_id: string, upload_id: string): Sql {
  return sql`
    select case when count(*) = count(n.acl_no) and count(distinct n.acl_no) = 1 then min(n.acl_no) end
    from upload_files o
    cross join lateral (
      select nullif(coalesce(
        (select r.acl_no from pages r where r.wiki_id = o.wiki_id and r.page_id = o.page_id and r.trashed_at is null),
        (select k.acl_no from page_acls k
          join pages r on r.wiki_id = k.wiki_id and r.page_id = k.page_id and r.trashed_at is null
          where k.wiki_id = o.wiki_id and starts_with(o.page_path, r.path || '/')
          order by length(r.path) desc limit 1)), 0) as acl_no) n
    where o.wiki_id = ${wiki_id} and o.upload_id = ${upload_id} and o.kind = 'file' and o.page_path <> '' and (select restricts())`;
}

/**
 * Selects attached files by name or ending. Endings, which wiki links use, have no index, so all attached files are
 * scanned.
 */
function attachedFilesAsked(wiki_id: string, { names, ends }: Exclude<Asked, 'all'>): Sql {
  if (ends.length === 0) return sql`(${filesNamed(wiki_id, names)}) f`;
  return sql`(
    ${filesNamed(wiki_id, names)}
    union
    select f.* from upload_files f
    where f.wiki_id = ${wiki_id} and f.is_attachment and f.status = 'done' and exists (
      select from unnest(${keysOf(ends)}::text[]) e where right('/' || f.name_key, length(e) + 1) = '/' || e)) f`;
}

/**
 * Returns the pages of documents of earlier uploads by filename, if the filename as a title starts with a string of
 * `beginnings`, which are lowercased in ASCII.
 */
export async function earlierDocuments(
  query: Query,
  wiki_id: string,
  beginnings: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await query<{ filename: string; path: string }>(sql`
    select distinct on (f.filename) f.filename, ${linkedPath} as path
    from (select distinct lower(b) collate "C" as begun from unnest(${beginnings}::text[]) b) g
    cross join lateral (
      select * from upload_files f
      where f.wiki_id = ${wiki_id} and f.status = 'done' and f.title_key >= g.begun and f.title_key < g.begun || U&'\\+10FFFF'
      offset 0) f
    ${withRun}
    join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
    where f.kind = 'file' and not f.is_attachment and p.trashed_at is null and ${isNotRenamed}
    order by f.filename, ran.ran_at desc limit ${EARLIER_MAX}`);
  return new Map(rows.map(({ filename, path }) => [filename, path]));
}

function filesNamed(wiki_id: string, names: readonly string[]): Sql {
  return sql`
    select n.* from unnest(${keysOf(names)}::text[]) k
    cross join lateral (
      select * from upload_files n where n.wiki_id = ${wiki_id} and n.name_key = k and n.status = 'done' offset 0) n`;
}

/**
 * Returns the `name_key` values that names may have apart from case and Unicode normalization. PostgreSQL's `lower`
 * folds only ASCII in some locales, and all letters in others.
 */
function keysOf(names: readonly string[]): string[] {
  const asciiLower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const keys = names.flatMap((name) => {
    const composed = name.normalize('NFC');
    return [asciiLower(composed), composed.toLowerCase(), asciiLower(composed.toUpperCase())];
  });
  return [...new Set(keys)];
}
