import type { Query } from '../../platform/db/db.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';

interface UploadId {
  wiki_id: string;
  upload_id: string;
}

/** A file or folder of an earlier upload that the sync no longer contains. */
export interface GoneFile {
  filename: string;
  kind: 'file' | 'folder';
  sha256: string;
  page_id: string;
  path: string;
  /** Whether its document was divided into sections. */
  has_sections: boolean;
}

/**
 * The time an upload was processed, by which uploads are ordered, regardless of when they were announced. Uploads from
 * releases that did not record it use the time of their announcement.
 */
function processedAt(upload: string) {
  return raw(`coalesce(${upload}.planned_at, ${upload}.created_at)`);
}

/** Joins the upload of each file `f` as `ran`, with `ran_at`. Lateral, because a wiki can have many uploads. */
export const withRun = sql`cross join lateral (
  select ${processedAt('u')} as ran_at, u.sync_root from uploads u where u.wiki_id = f.wiki_id and u.upload_id = f.upload_id offset 0) ran`;

/** Whether no later upload renamed the file `f`, so that its page still belongs to it. */
export const isNotRenamed = sql`not exists (
  select from upload_files r
  where r.wiki_id = f.wiki_id and r.renamed_from = f.filename and r.renamed_from <> ''
    and r.page_id = f.page_id and r.status = 'done'
    and (select ${processedAt('u')} from uploads u where u.wiki_id = r.wiki_id and u.upload_id = r.upload_id)
      > (select ${processedAt('u')} from uploads u where u.wiki_id = f.wiki_id and u.upload_id = f.upload_id))`;

/** The note of a hidden file that no text shows, and of one that an operating system added. */
export const HIDDEN_LEFT_OUT = 'left_out: a hidden file that no text refers to';

/** Selects the names of all folders that contain these files, at any depth. */
function foldersOf(filenames: Sql): Sql {
  return sql`
    select distinct array_to_string(d.segments[1:n.depth], '/') as filename
    from (${filenames}) f (filename)
    cross join lateral (select string_to_array(f.filename, '/') as segments) d
    cross join lateral generate_series(1, cardinality(d.segments) - 1) n (depth)`;
}

export interface PlannedUpload extends UploadId {
  creator: string;
  is_sync: boolean;
}

/** Records that an upload is being processed and, for a sync, its root folder. All filenames must be known. */
export async function noteSyncRoot(query: Query, { wiki_id, upload_id }: UploadId): Promise<PlannedUpload> {
  const [upload] = await query<{ creator: string; is_sync: boolean }>(sql`
    update uploads u set planned_at = clock_timestamp(), sync_root = case when not u.is_sync then u.sync_root else coalesce(u.sync_root, (
      select case when count(distinct split_part(f.filename, '/', 1)) = 1 and bool_and(position('/' in f.filename) > 0)
        then min(split_part(f.filename, '/', 1)) else '' end
      from upload_files f where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.kind = 'file'
        and f.error <> ${HIDDEN_LEFT_OUT})) end
    where u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id}
    returning u.created_by as creator, u.is_sync`);
  if (!upload) throw new Error('an ingest job has no upload');
  return { wiki_id, upload_id, ...upload };
}

/**
 * Finds files and folders with pages that are missing from a sync. Candidates are files of any upload below the sync's
 * root folder; if the root is the wiki itself, only files of earlier syncs of the root. Only files seen since the last
 * sync of the same root count, so that a page that users kept is not reported again. A file that was unreadable in that
 * sync counts as seen.
 */
export function goneFiles(query: Query, { wiki_id, upload_id }: UploadId): Promise<GoneFile[]> {
  return query<GoneFile>(sql`
    with sync as materialized (
      select folded(normalize(u.sync_root)) as root, ${processedAt('u')} as ran_at, coalesce((
        select max(${processedAt('o')}) from uploads o
        where o.wiki_id = u.wiki_id and folded(normalize(o.sync_root)) = folded(normalize(u.sync_root)) and o.status = 'completed'
          and ${processedAt('o')} < ${processedAt('u')}), '-infinity') as last_sync
      from uploads u where u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id} and u.is_sync and u.sync_root is not null
    ), since as materialized (
      select o.upload_id, o.status from sync, uploads o
      where o.wiki_id = ${wiki_id} and ${processedAt('o')} >= sync.last_sync and ${processedAt('o')} < sync.ran_at
    ), folders as materialized (${foldersOf(sql`
      select f.filename from since s join upload_files f on f.wiki_id = ${wiki_id} and f.upload_id = s.upload_id
      where f.status = 'done' and f.kind = 'file' and not f.is_attachment`)}
    ), latest as materialized (
      select distinct on (f.filename) f.filename, f.kind, f.sha256, f.page_id, p.path,
        exists (
          select from upload_files s
          where s.wiki_id = f.wiki_id and s.upload_id = f.upload_id and s.section_of = f.file_no) as has_sections
      from sync cross join (
        select f.* from since s join upload_files f on f.wiki_id = ${wiki_id} and f.upload_id = s.upload_id
        where f.status = 'done' and f.kind = 'file'
        union all
        select e.* from since s join upload_files f on f.wiki_id = ${wiki_id} and f.upload_id = s.upload_id
        cross join lateral (
          select e.* from upload_files e
          where e.wiki_id = ${wiki_id} and e.filename = f.filename and e.status = 'done' and e.kind = 'file' offset 0) e
        where s.status = 'completed' and f.status = 'failed' and f.kind = 'file' and not f.is_attachment
        union all
        -- The page of a folder is a row of the upload that made it, and of none after it.
        select f.* from folders d cross join lateral (
          select f.* from upload_files f
          where f.wiki_id = ${wiki_id} and f.filename = d.filename and f.status = 'done' and f.kind = 'folder' offset 0) f
      ) f
      ${withRun}
      join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
      where f.upload_id <> ${upload_id} and ran.ran_at < sync.ran_at
        and not f.is_attachment and p.origin = 'compiled' and p.trashed_at is null
        and case sync.root when '' then ran.sync_root = '' else starts_with(folded(normalize(f.filename)), sync.root || '/') end
        and ${isNotRenamed}
      order by f.filename, ran.ran_at desc
    ), present as materialized (
      select n.kind, n.filename, n.page_id from upload_files n where n.wiki_id = ${wiki_id} and n.upload_id = ${upload_id}
    ), present_folders as materialized (${foldersOf(sql`select folded(normalize(n.filename)) from present n where n.kind = 'file'`)})
    -- Lists that are hashed: few rows are expected of these steps, and thousands would be compared with each other.
    select l.* from latest l
    where l.filename not in (select n.filename from present n where n.kind = 'file')
      and (l.kind <> 'folder' or folded(normalize(l.filename)) not in (select n.filename from present_folders n))
      and l.page_id not in (select n.page_id from present n where n.page_id is not null)
    order by l.filename`);
}

/** Pages of missing files: their number, and the paths of pages that are not drafts. */
export interface Gone {
  count: number;
  paths: readonly string[];
  /** Whether missing files could not be determined, because an archive of the sync could not be opened. */
  isUnknown: boolean;
}

export const NONE_GONE: Gone = { count: 0, paths: [], isUnknown: false };

/**
 * Marks the pages of missing files and their sections as stale, until a user decides. Marks nothing if the upload
 * failed or an archive could not be opened. An archive entry that could not be unpacked is not missing.
 */
export async function markGone(query: Query, { wiki_id, upload_id }: UploadId): Promise<Gone> {
  const [files] = await query<{ is_usable: boolean; is_whole: boolean }>(sql`
    select bool_or(status = 'done') as is_usable,
      not bool_or(status = 'failed' and page_path = '' and sha256 <> '') as is_whole from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'file' and not is_attachment`);
  if (!files?.is_usable) return NONE_GONE;
  if (!files.is_whole) return { ...NONE_GONE, isUnknown: await isSync(query, { wiki_id, upload_id }) };
  const gone = await goneFiles(query, { wiki_id, upload_id });
  if (gone.length === 0) return NONE_GONE;
  const given = gone.map(({ page_id, kind, filename }) => ({
    page_id,
    gone_file: kind === 'folder' ? `${filename}/` : filename,
  }));
  // A page that already waits for a decision was counted when its file went missing.
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
  return { count: marked.length, paths: paths.sort(), isUnknown: false };
}

async function isSync(query: Query, { wiki_id, upload_id }: UploadId): Promise<boolean> {
  const found = await query(sql`
    select from uploads where wiki_id = ${wiki_id} and upload_id = ${upload_id} and is_sync`);
  return found.length > 0;
}

/** Clears the mark on a folder's page when any file of the folder is back. */
export async function noteReturnedFolders(query: Query, { wiki_id, upload_id }: UploadId): Promise<void> {
  await query(sql`
    with folders as materialized (${foldersOf(sql`
      select f.filename from upload_files f
      where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.kind = 'file' and f.status = 'done'`)})
    update pages p set stale = false, gone_file = null
    where p.wiki_id = ${wiki_id} and p.gone_file like '%/' and left(p.gone_file, -1) in (select filename from folders)`);
}
