import type { Query } from '../db/db.ts';
import { raw, sql } from '../db/sql.ts';
import { folderOf } from '../markdown/page-links.ts';
import { moveCtes, subtree } from '../pages/place-page.ts';
import type { PendingFile } from './compiled-upload.ts';

interface UploadId {
  wiki_id: string;
  upload_id: string;
}

/** A file of a folder that was there before. */
interface GoneFile {
  filename: string;
  kind: 'file' | 'folder';
  sha256: string;
  page_id: string;
  path: string;
  /** Whether its document was divided. */
  has_sections: boolean;
}

/** Whether a file `f` of an earlier upload has had no other name since, so that its page is still its own. */
export const isNotRenamed = raw(`not exists (
  select from upload_files r where r.wiki_id = f.wiki_id and r.renamed_from = f.filename and r.renamed_from <> ''
    and r.page_id = f.page_id and r.status = 'done' and r.upload_id > f.upload_id)`);

/** Notes the folder of a sync, when its files are known. */
export async function noteSyncRoot(query: Query, { wiki_id, upload_id }: UploadId): Promise<void> {
  await query(sql`
    update uploads u set sync_root = (
      select case when count(distinct split_part(f.filename, '/', 1)) = 1 and bool_and(position('/' in f.filename) > 0)
        then min(split_part(f.filename, '/', 1)) else '' end
      from upload_files f where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.kind = 'file')
    where u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id} and u.is_sync and u.sync_root is null`);
}

/**
 * The files with pages that the folder of a sync had and that the upload has not: those below its root, of any upload; and
 * where the root is that of the wiki, those of earlier syncs of it alone. Only what was there at the last sync of the same
 * root is gone since, so that what people kept then is not asked for again.
 */
export function goneFiles(query: Query, { wiki_id, upload_id }: UploadId): Promise<GoneFile[]> {
  return query<GoneFile>(sql`
    with sync as materialized (
      select u.sync_root as root, coalesce((
        select max(o.upload_id) from uploads o
        where o.wiki_id = u.wiki_id and o.sync_root = u.sync_root and o.status = 'completed' and o.upload_id < u.upload_id), '')
        as last_sync
      from uploads u where u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id} and u.is_sync and u.sync_root is not null
    ), latest as materialized (
      select distinct on (f.filename) f.filename, f.kind, f.sha256, f.page_id, p.path,
        exists (
          select from upload_files s
          where s.wiki_id = f.wiki_id and s.upload_id = f.upload_id and s.section_of = f.file_no) as has_sections
      from sync, upload_files f join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
      where f.wiki_id = ${wiki_id} and f.upload_id >= sync.last_sync and f.upload_id < ${upload_id} and f.status = 'done'
        and f.kind in ('file', 'folder') and not f.is_attachment and p.origin = 'compiled' and p.trashed_at is null
        and case sync.root when '' then exists (
            select from uploads o where o.wiki_id = f.wiki_id and o.upload_id = f.upload_id and o.sync_root = '')
          else starts_with(f.filename, sync.root || '/') end
        and ${isNotRenamed}
      order by f.filename, f.upload_id desc
    )
    select l.* from latest l
    where not exists (
        select from upload_files n
        where n.wiki_id = ${wiki_id} and n.upload_id = ${upload_id} and n.kind = 'file' and n.filename = l.filename)
      and not (l.kind = 'folder' and exists (
        select from upload_files n
        where n.wiki_id = ${wiki_id} and n.upload_id = ${upload_id} and n.kind = 'file'
          and starts_with(n.filename, l.filename || '/')))
      and not exists (
        select from upload_files n
        where n.wiki_id = ${wiki_id} and n.upload_id = ${upload_id} and n.page_id = l.page_id)
    order by l.filename`);
}

/**
 * The files and folders of a sync that were in the folder under another name. A file is another one's if both are the only
 * ones of their bytes. The folders of such files are each other's, and so are files of one name in them, although they have
 * changed. A document that was divided is none, because its sections have its name.
 */
export function renamedFiles(
  gone: readonly GoneFile[],
  fresh: readonly { filename: string; sha256: string }[],
): ReadonlyMap<string, GoneFile> {
  const files = gone.filter(({ kind, has_sections }) => kind === 'file' && !has_sections);
  const was = onlyOnes(files);
  const renamed = new Map<string, GoneFile>();
  const folderWas = new Map<string, string>();
  for (const [sha256, { filename }] of onlyOnes(fresh)) {
    const before = was.get(sha256);
    if (!before) continue;
    renamed.set(filename, before);
    noteFolders(folderWas, filename, before.filename);
  }
  const left = new Map(gone.map((each) => [each.filename, each]));
  for (const { filename } of renamed.values()) left.delete(filename);
  const isLeft = new Set([...files.map(({ filename }) => filename), ...folderWas.values()]);
  const takeNamed = (filename: string, name: string) => {
    const before = left.get(name);
    if (!before || !isLeft.has(name) || renamed.has(filename)) return;
    renamed.set(filename, before);
    left.delete(name);
  };
  for (const { filename } of fresh) {
    const folder = folderWas.get(folderOf(filename));
    if (folder !== undefined) takeNamed(filename, `${folder}/${filename.slice(filename.lastIndexOf('/') + 1)}`);
  }
  for (const [folder, before] of folderWas) takeNamed(folder, before);
  return renamed;
}

/** The folder of a renamed file, and those above it for as long as their names are the same. The first one counts. */
function noteFolders(folderWas: Map<string, string>, filename: string, before: string): void {
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  let [now, was] = [folderOf(filename), folderOf(before)];
  while (now !== was && now !== '' && was !== '') {
    if (!folderWas.has(now)) folderWas.set(now, was);
    if (last(now) !== last(was)) return;
    [now, was] = [folderOf(now), folderOf(was)];
  }
}

function onlyOnes<File extends { sha256: string }>(files: readonly File[]): ReadonlyMap<string, File> {
  const byHash = Map.groupBy(files, ({ sha256 }) => sha256);
  return new Map(
    [...byHash].flatMap(([sha256, [file, ...more]]) => (file && more.length === 0 ? [[sha256, file]] : [])),
  );
}

/** Where a page moves to with its file. */
export interface Move {
  page_id: string;
  parent_page_id: string | null;
  parent_path: string | null;
  slug: string;
  path: string;
}

/** Whether the page of a file, or of a folder, is to move to the place of its new name. */
export function isRenamed(file: PendingFile, present: { path: string; is_trashed: boolean } | undefined): boolean {
  const { renamed_from, page_path } = file;
  return renamed_from !== '' && present !== undefined && !present.is_trashed && present.path !== page_path;
}

/**
 * Moves a page with those below it, as people do: its old path leads to it. It stays where it would lie under itself, and
 * where a page that comes along would lie in the place of another one. `planned`: where it may be already, moved along.
 */
export async function movePage(
  query: Query,
  { wiki_id, creator }: { wiki_id: string; creator: string },
  planned: string,
  to: Move,
): Promise<void> {
  const [page] = await query<{ path: string }>(sql`
    select path from pages where wiki_id = ${wiki_id} and page_id = ${to.page_id}`);
  if (!page || page.path === planned || to.path.startsWith(`${page.path}/`)) return;
  const below = subtree(wiki_id, to.page_id);
  const inTheWay = await query(sql`
    with below as (${below})
    select from below b join pages c on c.wiki_id = ${wiki_id} and c.page_id = b.page_id and c.trashed_at is null
    join pages o on o.wiki_id = ${wiki_id} and o.trashed_at is null
      and o.path = ${to.path} || right(c.path, -length(${page.path}::text))
    where o.page_id not in (select page_id from below) limit 1`);
  if (inTheWay.length > 0) return;
  const { moved, remembered } = moveCtes(wiki_id, page.path);
  await query(sql`
    with below as (${below}),
    edited as (
      update pages p set path = ${to.path}, slug = ${to.slug}, parent_page_id = ${to.parent_page_id},
        parent_path = ${to.parent_path}, updated_at = now(), updated_by = ${creator}
      where p.wiki_id = ${wiki_id} and p.page_id = ${to.page_id}
      returning p.*
    ),
    moved as (${moved ?? raw('')}),
    remembered as (${remembered ?? raw('')})
    select from edited`);
}

/**
 * Marks the pages of files that are gone as stale, with those of their sections, and answers how many, and the first of
 * them. They stay until a person decides. Nothing is gone after an upload that failed, or in which an archive could not be
 * opened.
 */
export async function markGone(
  query: Query,
  { wiki_id, upload_id }: UploadId,
): Promise<{ count: number; paths: string[] }> {
  const [files] = await query<{ is_whole: boolean }>(sql`
    select bool_or(status = 'done') and not bool_or(status = 'failed' and page_path = '') as is_whole from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'file' and not is_attachment`);
  const gone = files?.is_whole ? await goneFiles(query, { wiki_id, upload_id }) : [];
  if (gone.length === 0) return { count: 0, paths: [] };
  const given = gone.map(({ page_id, kind, filename }) => ({
    page_id,
    gone_file: kind === 'folder' ? `${filename}/` : filename,
  }));
  // A page that waits for a decision already was counted when its file was gone.
  const marked = await query<{ path: string }>(sql`
    with given as materialized (
      select page_id, gone_file from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g (page_id text, gone_file text)
    ), gone as materialized (
      select page_id, gone_file from given
      union
      select s.page_id, g.gone_file from given g
      join compiled_files c on c.wiki_id = ${wiki_id} and c.page_id = g.page_id
      join upload_files s on s.wiki_id = c.wiki_id and s.upload_id = c.upload_id and s.section_of = c.file_no
    )
    update pages p set stale = true, gone_file = g.gone_file from gone g
    where p.wiki_id = ${wiki_id} and p.page_id = g.page_id and p.trashed_at is null and not (p.stale and p.gone_file is not null)
    returning case when p.status = 'draft' then '' else p.path end as path`);
  const paths = marked.map(({ path }) => path).filter((path) => path !== '');
  return { count: marked.length, paths: paths.sort() };
}

/** A folder that was gone is back with the first file in it; its page waits for no decision any more. */
export async function noteReturnedFolders(query: Query, { wiki_id, upload_id }: UploadId): Promise<void> {
  await query(sql`
    update pages p set stale = false, gone_file = null
    where p.wiki_id = ${wiki_id} and p.gone_file like '%/' and exists (
      select from upload_files f
      where f.wiki_id = p.wiki_id and f.upload_id = ${upload_id} and f.kind = 'file' and f.status = 'done'
        and starts_with(f.filename, p.gone_file))`);
}
