import { planPaths } from '@ibid/documents/file-paths.ts';
import { folderPageFiles, foldersOf, nameKey } from '@ibid/documents/folder-pages.ts';
import { titleFromFilename } from '@ibid/documents/formats/extracted.ts';
import { allRowsOf } from '@ibid/documents/notion-names.ts';
import type { GivenOrder } from '@ibid/documents/order/given-order.ts';
import { byReadingOrder } from '@ibid/documents/reading-order.ts';
import { folderOf } from '@ibid/markdown/page-links.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { ClaimedJob } from '../../platform/jobs/define-job.ts';
import { exchangePages } from './move-pages.ts';
import { findMoved } from './renamed-files.ts';
import { SAME_TABLE } from './surroundings/attached-files.ts';
import { knownPagesOf, pagesOfNames } from './surroundings/known-pages.ts';
import { noteSyncRoot } from './sync-folder.ts';

interface FileRow {
  file_no: number;
  kind: 'file' | 'folder';
  status: 'pending' | 'done' | 'failed';
  filename: string;
  sha256: string;
  page_path: string;
}

interface PageRow {
  page_id: string;
  path: string;
  position: number;
  title: string;
  /** hidden: the uploader does not see the page, so its other fields are empty. */
  origin: 'authored' | 'compiled' | 'hidden';
  /** Whether a file made the page, rather than a folder. */
  is_of_file: boolean;
  /** The name of its file, if an earlier sync found the file missing. */
  gone_file: string | null;
}

interface Placed {
  file_no: number;
  kind: 'file' | 'folder';
  filename: string;
  page_path: string;
  page_id: string;
  renamed_from?: string;
  position?: number;
  /** The position of its existing page among the siblings. */
  present?: number | undefined;
}

/**
 * Assigns a page to each file of an upload before any file is read: the page this filename created earlier, even if it
 * has moved, otherwise a new one. Pages in the trash stay there. A retried upload is planned again, except for files
 * that are done. Returns the path of each file and folder, for the links between them. `given` is the author's order of
 * the files, for the positions of new pages.
 */
export async function planUpload(
  query: Query,
  job: ClaimedJob,
  given?: GivenOrder,
): Promise<ReadonlyMap<string, string>> {
  const files = await query<FileRow>(sql`
    select file_no, kind, status, filename, sha256, page_path from upload_files
    where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and kind = 'file' and ${isPlanned} order by file_no`);
  if (files.some((file) => file.page_path === '')) await place(query, job, files, given);
  const placed = await query<FileRow>(sql`
    select kind, filename, page_path from upload_files
    where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and ${isPlanned} order by file_no desc`);
  const pages = new Map<string, string>();
  for (const { filename, page_path } of placed) pages.set(filename, page_path);
  const names = placed.flatMap(({ kind, filename }) => (kind === 'file' ? filename : [])).toReversed();
  const nameOf = namesIn(given);
  for (const [folder, i] of folderPageFiles(names.map(nameOf))) pages.set(folder, pages.get(names[i] ?? '') ?? '');
  await addViews(query, job, pages);
  return pages;
}

/** Maps views of a table to the page that has all its rows. */
async function addViews(query: Query, job: ClaimedJob, pages: Map<string, string>): Promise<void> {
  const views = await query<{ filename: string }>(sql`
    select filename from upload_files
    where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and is_attachment and error = ${SAME_TABLE}`);
  for (const { filename } of views) {
    const path = pages.get(allRowsOf(filename) ?? '');
    if (path !== undefined) pages.set(filename, path);
  }
}

/** Returns the tree path of a file that the author's order gives, or its filename. */
function namesIn(given: GivenOrder | undefined): (filename: string) => string {
  return (filename) => given?.names?.get(filename) ?? filename;
}

/**
 * Rows that have a page or may get one: no archives, pictures or entries that could not be unpacked. Sections are
 * planned with their file.
 */
const isPlanned = sql`(kind in ('file', 'folder') and not is_attachment and not (status = 'failed' and page_path = ''))`;

async function place(query: Query, job: ClaimedJob, files: FileRow[], given?: GivenOrder): Promise<void> {
  const upload = await noteSyncRoot(query, { wiki_id: job.wiki_id, upload_id: job.upload_id ?? '' });
  const nameOf = namesIn(given);
  const names = [...new Set(files.flatMap(({ filename }) => [filename, ...foldersOf(nameOf(filename))]))];
  const earlier = await pagesOfNames(query, job.wiki_id, names);
  const knownPages = await knownPagesOf(query, job.wiki_id, files, earlier);
  const unknown = files.filter((_, i) => !knownPages[i]);
  const { gone, exchanged, renamed, staying } = await findMoved(query, upload, files, knownPages, unknown);
  const fresh = unknown.filter((file) => !staying.has(file));
  const goneAt = new Map(gone.filter(({ kind }) => kind === 'file').map((file) => [file.page_id, file.filename]));
  const { plan, pageAt } = await planFresh(
    query,
    job.wiki_id,
    fresh.map(({ filename }) => nameOf(filename)),
    { given: new Set(knownPages.map((page) => page?.page_id)), gone: goneAt },
  );
  const freshAt = new Map(fresh.map((file, at) => [file, at]));
  const pathOf = (file: FileRow, i: number) =>
    knownPages[i]?.path ?? staying.get(file)?.path ?? plan.files[freshAt.get(file) ?? -1] ?? '';
  const exchanges = files.flatMap((file, i) => {
    const { page_id, path: from } = exchanged.get(file.filename) ?? {};
    return page_id && from ? [{ page_id, from, to: pathOf(file, i) }] : [];
  });
  const isExchanged = exchanges.length > 0 && (await exchangePages(query, upload, exchanges));
  // The files that take over the page of another file.
  const movers = new Map([...renamed].map(([filename, { page_id }]) => [page_id, filename]));
  const placed: Placed[] = [];
  const planned: Placed[] = [];
  for (const [i, file] of files.entries()) {
    const page_path = pathOf(file, i);
    const other = isExchanged ? exchanged.get(file.filename) : undefined;
    const known = other ? undefined : knownPages[i];
    const mover = movers.get(pageAt.get(page_path)?.page_id ?? '') ?? file.filename;
    const hasOther = staying.has(file) || other !== undefined || mover !== file.filename;
    const taken = known ?? (hasOther ? undefined : pageAt.get(page_path));
    // A renamed file keeps its page unless the new path is taken.
    const before = taken ? undefined : (other ?? renamed.get(file.filename));
    // A file that reappears does not get back a page that was reassigned in the meantime.
    const formerly = known || !taken ? undefined : pageAt.get(page_path);
    const replaced = formerly?.is_of_file ? (goneAt.get(formerly.page_id) ?? formerly.gone_file) : undefined;
    const renamed_from = before?.filename ?? replaced ?? '';
    const page_id = (taken ?? before)?.page_id ?? '';
    const present = (taken ?? knownPages[i])?.position;
    if (file.status === 'done') planned.push({ ...file, file_no: -1, page_path, page_id, present });
    else placed.push({ ...file, page_path, page_id, renamed_from, present });
  }
  const [used] = await query<{ file_no: number }>(sql`
    select max(file_no) as file_no from upload_files where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id}`);
  let file_no = (used?.file_no ?? -1) + 1;
  const placedFolders = new Set<string>();
  for (const [page_path, filename] of plan.folders) {
    if (pageAt.get(page_path)) continue;
    placedFolders.add(filename);
    const before = renamed.get(filename);
    placed.push({
      file_no: file_no++,
      kind: 'folder',
      filename,
      page_path,
      page_id: before?.page_id ?? '',
      renamed_from: before?.filename ?? '',
    });
  }
  // Existing pages of folders take part in the order, but get no row.
  const present = earlier
    .filter(({ kind, filename }) => kind === 'folder' && !placedFolders.has(filename))
    .map((page): Placed => ({ ...page, file_no: -1, page_path: page.path, present: page.position }));
  const inReadingOrder = [...placed, ...planned, ...present].sort(
    (a, b) => byReadingOrder(nameOf(a.filename), nameOf(b.filename), given) || a.file_no - b.file_no,
  );
  setPositions(inReadingOrder);
  // Assign ids to parents first, so that pages are written in the order of their ids.
  const depth = (path: string) => path.split('/').length;
  const ordered = inReadingOrder
    .filter((row) => row.file_no >= 0)
    .sort((a, b) => depth(a.page_path) - depth(b.page_path) || (a.position ?? 0) - (b.position ?? 0));
  for (const row of ordered) row.page_id ||= newId('page');
  await query(sql`
    insert into upload_files
      (wiki_id, upload_id, file_no, kind, filename, content_type, byte_size, sha256, page_path, page_id, renamed_from, position)
    select ${job.wiki_id}, ${job.upload_id}, file_no, kind, filename, '', 0, '', page_path, page_id, coalesce(renamed_from, ''), position
    from jsonb_to_recordset(${JSON.stringify(ordered)}::jsonb)
      as placed (file_no int, kind text, filename text, page_path text, page_id text,
        renamed_from text, position int)
    on conflict (wiki_id, upload_id, file_no) do update set page_path = excluded.page_path, page_id = excluded.page_id,
      renamed_from = excluded.renamed_from, position = excluded.position`);
}

/**
 * Numbers new pages in reading order. Existing siblings keep their positions; a new page gets the position of the
 * sibling before it, and of equal positions the older page comes first.
 */
function setPositions(inReadingOrder: readonly Placed[]): void {
  const last = new Map<string, number>();
  for (const { page_path, present } of inReadingOrder) {
    const folder = folderOf(page_path);
    // New pages before all existing siblings.
    if (present !== undefined) last.set(folder, Math.min(last.get(folder) ?? Infinity, Math.max(0, present - 1)));
  }
  for (const [rank, row] of inReadingOrder.entries()) {
    const folder = folderOf(row.page_path);
    if (row.present !== undefined) last.set(folder, row.present);
    row.position = last.get(folder) ?? rank;
  }
}

/**
 * Plans the paths of files without a page, and loads only the pages at possible paths, so that the cost does not depend
 * on the size of the wiki. Repeats the planning until it needs no other path. The index of a folder does not replace
 * the page of another file, unless that file is in `gone` or was gone before. `given` has the pages of other files of
 * the upload.
 */
async function planFresh(
  query: Query,
  wiki_id: string,
  filenames: readonly string[],
  { given, gone }: { given: ReadonlySet<string | undefined>; gone: ReadonlyMap<string, string> },
) {
  const pageAt = new Map<string, PageRow | undefined>();
  const originOf = (page: PageRow | undefined) => {
    if (!page || page.origin === 'hidden') return page?.origin;
    const isFree = !page.is_of_file || page.gone_file !== null || gone.has(page.page_id);
    return isFree && !given.has(page.page_id) ? page.origin : 'authored';
  };
  // A page that a folder made has the folder's name as its title.
  const isOfFolder = (path: string, filename: string) => {
    const page = pageAt.get(path);
    if (!page || page.is_of_file || originOf(page) !== 'compiled') return false;
    return nameKey(titleFromFilename(filename)) === nameKey(page.title);
  };
  for (;;) {
    const asked = new Set<string>();
    const originAt = (path: string, ahead: () => string[]) => {
      if (!pageAt.has(path)) for (const each of [path, ...ahead()]) asked.add(each);
      return originOf(pageAt.get(path));
    };
    const plan = planPaths(filenames, originAt, isOfFolder);
    for (const path of plan.folders.keys()) if (!pageAt.has(path)) asked.add(path);
    if (asked.size === 0) return { plan, pageAt };
    const there = await query<PageRow>(sql`
      with seen as (
        select page_id, path, position, title, origin, source_count > 0 as is_of_file, gone_file from pages
        where wiki_id = ${wiki_id} and trashed_at is null and path = any (${[...asked]}::text[])
      )
      select * from seen
      union all
      select '', t.path, 0, '', 'hidden', false, null from taken_paths(${wiki_id}, ${[...asked]}::text[]) t (path)
      where (select restricts()) and t.path not in (select path from seen)`);
    for (const path of asked) pageAt.set(path, undefined);
    for (const page of there) pageAt.set(page.path, page);
  }
}
