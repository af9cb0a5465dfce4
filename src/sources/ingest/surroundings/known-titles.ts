import { buffer } from 'node:stream/consumers';
import { titleFromFilename } from '@ibid/documents/formats/extracted.ts';
import { isMarkdownName, isTitledName } from '@ibid/documents/formats/file-type.ts';
import { EARLIER_UPLOAD_PREFIX } from '@ibid/documents/links/find-file.ts';
import { beginningsIn, type KnownTitle } from '@ibid/documents/links/title-names.ts';
import { TITLE_BYTES, titleOfBeginning } from '@ibid/documents/links/title-of-beginning.ts';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { Blobs } from '../../../platform/providers/storage/blobs.ts';
import { compiledAhead } from '../compile-ahead.ts';
import type { PendingFile } from '../compiled-upload.ts';
import { earlierDocuments } from './earlier-files.ts';
import type { KnownFiles } from './files-around.ts';

/** Of a wiki with more pages the older ones are known. */
const TITLES_MAX = 50_000;

/** For the texts of more documents all titles are read: one statement costs less than one for each text. */
const FEW_DOCUMENTS = 20;

/** Of a text with more, the titles that begin as something in it are not fewer than all by much. */
const BEGINNINGS_MAX = 20_000;

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

/** The titles that the documents of an upload may name. */
export interface KnownTitles {
  /** Of the files that come with it; of an upload of many documents also those of the wiki. */
  known: readonly KnownTitle[];
  /** All that a text may name, the known ones among them; undefined if it names no others. */
  namedIn(text: string): Promise<readonly KnownTitle[] | undefined>;
  /** Those of the upload and of the wiki, for texts that are too long to be asked about. */
  all(): Promise<readonly KnownTitle[]>;
}

/**
 * The titles that the documents of an upload may name: of what everybody who reads the wiki can read, and of the files that
 * come with it, as far as their beginnings and their names say. A worker that takes the job over comes to the same ones, so
 * what this upload has written since is left out. `pages` is where files are, also those of earlier uploads. An upload of
 * Markdown alone, which says itself what is a link, asks for nothing; one of few documents only for titles that begin as
 * something in their texts does.
 */
export async function knownTitles(
  { query, blobs, stopping }: { query: Query; blobs: Blobs; stopping: AbortSignal },
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
  pending: readonly PendingFile[],
  around: KnownFiles,
): Promise<KnownTitles> {
  const documents = pending.filter((file) => file.kind === 'file' && !isMarkdownName(file.filename));
  if (documents.length === 0) return NOTHING;
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
  const named = own.filter(({ is_named }) => is_named).slice(0, TITLES_MAX);
  const begun: KnownTitle[] = [];
  const titleOf = async (file: OwnFile): Promise<KnownTitle> => {
    return { ...titleOfBeginning({ ...file, bytes: await beginningOf(blobs, file.sha256) }), path: file.page_path };
  };
  for await (const title of compiledAhead(named, titleOf, stopping)) begun.push(title);
  const ofUpload = [...named.map(({ title, page_path }) => ({ title, path: page_path, is_filename: false })), ...begun];
  const written = new Set(own.map(({ page_id }) => page_id));
  return titlesAmong(query, { wiki_id, written, around, ofUpload }, documents.length > FEW_DOCUMENTS);
}

const NOTHING: KnownTitles = { known: [], namedIn: async () => undefined, all: async () => [] };

/** `isForMany`: whether all titles are read at once, since there are texts enough to name them. */
async function titlesAmong(
  query: Query,
  { wiki_id, written, around, ofUpload }: Among,
  isForMany: boolean,
): Promise<KnownTitles> {
  let reading: Promise<readonly KnownTitle[]> | undefined;
  const all = () => (reading ??= readAll());
  async function readAll() {
    await around.includeAll();
    const files = [...around.known().pages].filter(([filename]) => filename.startsWith(EARLIER_UPLOAD_PREFIX));
    return together(await presentPages(query, { wiki_id, written }), byFilenames(files), ofUpload);
  }
  if (isForMany) return { known: await all(), namedIn: NOTHING.namedIn, all };
  return {
    known: ofUpload,
    all,
    async namedIn(text) {
      const beginnings = [...beginningsIn(text)];
      if (beginnings.length > BEGINNINGS_MAX) return all();
      const { pages } = around.known();
      const files = await earlierDocuments(query, wiki_id, beginnings);
      const said = comparable(text);
      const isSaid = ({ title }: { title: string }) => said.includes(comparable(title));
      const documents = byFilenames([...files].filter(([filename]) => !pages.has(filename))).filter(isSaid);
      const paths = documents.map(({ path }) => path);
      const present = await presentPages(query, { wiki_id, written, beginnings, paths });
      const isNamed = (page: PresentPage) => isSaid(page) || paths.includes(page.path);
      return present.some(isNamed) ? together(present, documents, ofUpload) : undefined;
    },
  };
}

function together(
  present: readonly PresentPage[],
  documents: readonly KnownTitle[],
  ofUpload: readonly KnownTitle[],
): KnownTitle[] {
  const paths = new Set(present.map(({ path }) => path));
  return [
    ...present.map(({ title, path }) => ({ title, path, is_filename: false })),
    ...documents.filter(({ path }) => paths.has(path)),
    ...ofUpload,
  ];
}

interface Among {
  wiki_id: string;
  /** The ids of the pages of the upload. */
  written: ReadonlySet<string>;
  around: KnownFiles;
  ofUpload: readonly KnownTitle[];
}

interface PresentPage {
  title: string;
  path: string;
}

/** Folders and parts of documents are called by words ("Notes", "Related work") that mean something else elsewhere. */
async function presentPages(
  query: Query,
  {
    wiki_id,
    written,
    beginnings,
    paths,
  }: Pick<Among, 'wiki_id' | 'written'> & { beginnings?: readonly string[]; paths?: readonly string[] },
): Promise<PresentPage[]> {
  const columns = sql`t.page_id, t.title, t.path, t.status, t.origin, t.source_count`;
  const present = sql`t.wiki_id = ${wiki_id} and t.trashed_at is null`;
  const asked = beginnings
    ? sql`
      select ${columns} from (select distinct lower(b) collate "C" as begun from unnest(${beginnings}::text[]) b) g
      cross join lateral (
        select * from pages t where ${present} and t.title_key >= g.begun and t.title_key < g.begun || U&'\\+10FFFF' offset 0) t
      union select ${columns} from pages t where ${present} and t.path = any (${paths}::text[])`
    : sql`select ${columns} from pages t where ${present}`;
  const found = await query<PresentPage & { page_id: string }>(sql`
    select p.page_id, p.title, p.path from (${asked}) p
    where p.status = 'published' and not (p.origin = 'compiled' and p.source_count = 0)
      and not exists (
        select from upload_files f where f.wiki_id = ${wiki_id} and f.page_id = p.page_id and f.section_of is not null)
    order by p.page_id limit ${TITLES_MAX}`);
  return found.filter(({ page_id }) => !written.has(page_id));
}

function comparable(text: string): string {
  return text.replace(/\s+/g, ' ').trim().normalize('NFC').toLowerCase();
}

/** Documents are known by the names of their files before they are read, so a text that names them so goes on to do it. */
function byFilenames(files: readonly (readonly [filename: string, path: string])[]): KnownTitle[] {
  return files.flatMap(([filename, path]) =>
    isTitledName(filename) ? [] : [{ title: titleFromFilename(filename), path, is_filename: true }],
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
