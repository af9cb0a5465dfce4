import { buffer } from 'node:stream/consumers';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { titleFromFilename } from '../documents/formats/extracted.ts';
import { isMarkdownName, isTitledName } from '../documents/formats/file-type.ts';
import { EARLIER_UPLOAD_PREFIX } from '../documents/links/find-file.ts';
import type { KnownTitle } from '../documents/links/title-names.ts';
import { TITLE_BYTES, titleOfBeginning } from '../documents/links/title-of-beginning.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import { compiledAhead } from './compile-ahead.ts';
import type { PendingFile } from './compiled-upload.ts';

/** Of a wiki with more pages the older ones are known. */
const TITLES_MAX = 50_000;

interface OwnFile {
  filename: string;
  content_type: string;
  sha256: string;
  page_path: string;
  page_id: string;
  /** What its page was called before the upload; "" where there was none. */
  title: string;
  /** Whether everybody who reads the wiki can read it, or will. */
  is_named: boolean;
}

/**
 * The titles that the documents of an upload may name: of what everybody who reads the wiki can read, as it was when the job
 * began, and of the files that come with it, as far as their beginnings and their names say. A worker that takes the job over
 * comes to the same ones, so what this upload has written since is left out. `pages` is where files are, also those of
 * earlier uploads. An upload of Markdown alone, which says itself what is a link, asks for nothing.
 */
export async function knownTitles(
  { query, blobs, stopping }: { query: Query; blobs: Blobs; stopping: AbortSignal },
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  pending: readonly PendingFile[],
  pages: ReadonlyMap<string, string>,
): Promise<readonly KnownTitle[]> {
  if (pending.every((file) => file.kind !== 'file' || isMarkdownName(file.filename))) return [];
  const own = await query<OwnFile>(sql`
    select f.filename, f.content_type, f.sha256, f.page_path, f.page_id, coalesce(r.title, '') as title,
      f.byte_size > 0 and coalesce(p.status, 'published') = 'published' as is_named
    from upload_files f join uploads u on u.wiki_id = f.wiki_id and u.upload_id = f.upload_id
    left join pages p on p.wiki_id = f.wiki_id and p.page_id = f.page_id
    left join lateral (
      select r.title from revisions r
      where r.wiki_id = f.wiki_id and r.page_id = f.page_id and r.created_at < u.created_at order by r.revision desc limit 1
    ) r on true
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.kind = 'file' and f.page_path <> ''
    order by f.file_no`);
  // Folders and parts of documents are called by words ("Notes", "Related work") that mean something else elsewhere.
  const wiki = await query<{ page_id: string; title: string; path: string }>(sql`
    select p.page_id, p.title, p.path from pages p
    where p.wiki_id = ${wiki_id} and p.trashed_at is null and p.status = 'published'
      and not (p.origin = 'compiled' and p.source_count = 0)
      and not exists (
        select from upload_files f where f.wiki_id = ${wiki_id} and f.page_id = p.page_id and f.section_of is not null)
    order by p.page_id limit ${TITLES_MAX}`);
  const written = new Set(own.map(({ page_id }) => page_id));
  const present = wiki.filter(({ page_id }) => !written.has(page_id));
  const named = own.filter(({ is_named }) => is_named).slice(0, TITLES_MAX);
  const begun: KnownTitle[] = [];
  const titleOf = async (file: OwnFile): Promise<KnownTitle> => {
    return { ...titleOfBeginning({ ...file, bytes: await beginningOf(blobs, file.sha256) }), path: file.page_path };
  };
  for await (const title of compiledAhead(named, titleOf, stopping)) begun.push(title);
  return [
    ...present.map(({ title, path }) => ({ title, path, is_filename: false })),
    ...filenames(new Set(present.map(({ path }) => path)), pages),
    ...named.map(({ title, page_path }) => ({ title, path: page_path, is_filename: false })),
    ...begun,
  ];
}

/** Documents are known by the names of their files before they are read, so a text that names them so goes on to do it. */
function filenames(paths: ReadonlySet<string>, pages: ReadonlyMap<string, string>): KnownTitle[] {
  return [...pages].flatMap(([filename, path]) =>
    filename.startsWith(EARLIER_UPLOAD_PREFIX) && paths.has(path) && !isTitledName(filename)
      ? [{ title: titleFromFilename(filename), path, is_filename: true }]
      : [],
  );
}

async function beginningOf(blobs: Blobs, sha256: string): Promise<Uint8Array> {
  try {
    return await buffer(await blobs.stream(sha256, { start: 0, end: TITLE_BYTES - 1 }));
  } catch (error) {
    // What is gone is said when the file is compiled.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Uint8Array();
    throw error;
  }
}
