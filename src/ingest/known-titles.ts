import { buffer } from 'node:stream/consumers';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { type Blobs, mapAtOnce } from '../providers/blobs.ts';
import { titleFromFilename } from './extract/extract.ts';
import { isMarkdownName, isTitledName } from './extract/file-type.ts';
import { EARLIER } from './relink.ts';
import type { KnownTitle } from './title-names.ts';
import { BEGINNING, titleOfBeginning } from './title-of-beginning.ts';
import type { PendingFile } from './write-files.ts';

/** Of a wiki with more pages the older ones are known. */
const TITLES_MAX = 50_000;

interface OwnFile {
  filename: string;
  content_type: string;
  sha256: string;
  page_path: string;
  /** What its page was called before the upload; "" where there was none. */
  title: string;
}

/**
 * The titles that the documents of an upload may name: of what everybody who reads the wiki can read, as it was when the job
 * began, and of the files that come with it, as far as their beginnings and their names say. A worker that takes the job over
 * comes to the same ones, so what this upload has written since is left out. `pages` is where files are, also those of
 * earlier uploads. An upload of Markdown alone, which says itself what is a link, asks for nothing.
 */
export async function knownTitles(
  { query, blobs }: { query: Query; blobs: Blobs },
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  pending: readonly PendingFile[],
  pages: ReadonlyMap<string, string>,
): Promise<readonly KnownTitle[]> {
  if (pending.every((file) => file.kind !== 'file' || isMarkdownName(file.filename))) return [];
  // Folders and parts of documents are called by words ("Notes", "Related work") that mean something else elsewhere.
  const others = await query<{ title: string; path: string }>(sql`
    select p.title, p.path from pages p
    where p.wiki_id = ${wiki_id} and p.trashed_at is null and p.status = 'published'
      and not exists (
        select from upload_files f
        where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.page_id = p.page_id)
      and (not exists (
        select from upload_files f where f.wiki_id = ${wiki_id} and f.kind <> 'file' and f.page_id = p.page_id)
      or exists (
        select from upload_files f where f.wiki_id = ${wiki_id} and f.kind = 'file' and f.page_id = p.page_id))
    order by p.page_id limit ${TITLES_MAX}`);
  const own = await query<OwnFile>(sql`
    select f.filename, f.content_type, f.sha256, f.page_path, coalesce(r.title, '') as title
    from upload_files f join uploads u on u.wiki_id = f.wiki_id and u.upload_id = f.upload_id
    left join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
    left join lateral (
      select r.title from revisions r
      where r.wiki_id = f.wiki_id and r.page_id = f.page_id and r.created_at < u.created_at order by r.revision desc limit 1
    ) r on true
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.kind = 'file' and f.page_path <> '' and f.byte_size > 0
      and coalesce(p.status, 'published') = 'published'
    order by f.file_no limit ${TITLES_MAX}`);
  const begun = await mapAtOnce(own, async (file): Promise<KnownTitle> => {
    return { ...titleOfBeginning({ ...file, bytes: await beginningOf(blobs, file.sha256) }), path: file.page_path };
  });
  const before = own.map(({ title, page_path }) => ({ title, path: page_path, is_filename: false }));
  const present = others.map((page) => ({ ...page, is_filename: false }));
  return [...present, ...filenames(new Set(others.map(({ path }) => path)), pages), ...before, ...begun];
}

/** Documents are known by the names of their files before they are read, so a text that names them so goes on to do it. */
function filenames(paths: ReadonlySet<string>, pages: ReadonlyMap<string, string>): KnownTitle[] {
  return [...pages].flatMap(([filename, path]) =>
    filename.startsWith(EARLIER) && paths.has(path) && !isTitledName(filename)
      ? [{ title: titleFromFilename(filename), path, is_filename: true }]
      : [],
  );
}

async function beginningOf(blobs: Blobs, sha256: string): Promise<Uint8Array> {
  try {
    return await buffer(await blobs.stream(sha256, { start: 0, end: BEGINNING - 1 }));
  } catch (error) {
    // What is gone is said when the file is compiled.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Uint8Array();
    throw error;
  }
}
