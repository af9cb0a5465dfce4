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

/** Limit of known titles; of larger wikis, the newest pages are omitted. */
const TITLES_MAX = 50_000;

/** Uploads of more documents load all titles at once, because one statement is cheaper than one per text. */
const FEW_DOCUMENTS = 20;

/** A text with more candidate beginnings loads all titles, because the filter would exclude few. */
const BEGINNINGS_MAX = 20_000;

interface OwnFile {
  filename: string;
  content_type: string;
  sha256: string;
  page_path: string;
  page_id: string;
  /** The title of its page before the upload; "" if it had no page. */
  title: string;
  /** Whether all readers of the wiki can read its page, or will. */
  is_named: boolean;
}

export interface KnownTitles {
  /** Titles of the upload itself and, for many documents, also of the wiki. */
  known: readonly KnownTitle[];
  /** Returns all titles that a text may mention, including `known`; undefined if it mentions no others. */
  namedIn(text: string): Promise<readonly KnownTitle[] | undefined>;
  /** Returns the titles of the upload and the wiki, for texts that are too long for `namedIn`. */
  all(): Promise<readonly KnownTitle[]>;
}

/**
 * Finds the titles that documents of an upload may mention: titles of pages that every reader can see, and titles that
 * the files of the upload appear to have from their beginning and name. Omits pages written by this upload, so that a
 * resumed job gets the same titles. Markdown files link explicitly, so an upload of only Markdown loads nothing. An
 * upload of few documents loads only titles whose beginning occurs in their texts.
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
      f.byte_size > 0 and coalesce(p.status, 'published') = 'published' and (not (select restricts())
        or coalesce(p.acl_no, 0) = 0 and not exists (
          select from page_acls k join pages r on r.wiki_id = k.wiki_id and r.page_id = k.page_id and r.trashed_at is null
          where k.wiki_id = f.wiki_id and starts_with(f.page_path, r.path || '/'))) as is_named
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

/** `isForMany` loads all titles at once, because many texts need them. */
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
  /** Ids of the upload's own pages. */
  written: ReadonlySet<string>;
  around: KnownFiles;
  ofUpload: readonly KnownTitle[];
}

interface PresentPage {
  title: string;
  path: string;
}

/**
 * Loads published pages that are not restricted, optionally limited to titles with any of the `beginnings`, or to `paths`.
 * Omits folders and sections, because their titles ("Notes", "Related work") are common words.
 */
async function presentPages(
  query: Query,
  {
    wiki_id,
    written,
    beginnings,
    paths,
  }: Pick<Among, 'wiki_id' | 'written'> & { beginnings?: readonly string[]; paths?: readonly string[] },
): Promise<PresentPage[]> {
  const columns = sql`t.page_id, t.title, t.path, t.status, t.origin, t.source_count, t.acl_no`;
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
    where p.status = 'published' and p.acl_no = 0 and not (p.origin = 'compiled' and p.source_count = 0)
      and not exists (
        select from upload_files f where f.wiki_id = ${wiki_id} and f.page_id = p.page_id and f.section_of is not null)
    order by p.page_id limit ${TITLES_MAX}`);
  return found.filter(({ page_id }) => !written.has(page_id));
}

function comparable(text: string): string {
  return text.replace(/\s+/g, ' ').trim().normalize('NFC').toLowerCase();
}

/**
 * Documents also count under their filename, the only title known before they are read, so that links by filename
 * survive a repeated upload.
 */
function byFilenames(files: readonly (readonly [filename: string, path: string])[]): KnownTitle[] {
  return files.flatMap(([filename, path]) =>
    isTitledName(filename) ? [] : [{ title: titleFromFilename(filename), path, is_filename: true }],
  );
}

async function beginningOf(blobs: Blobs, sha256: string): Promise<Uint8Array> {
  try {
    return await buffer(await blobs.stream(sha256, { start: 0, end: TITLE_BYTES - 1 }));
  } catch (error) {
    // Compilation reports missing bytes.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Uint8Array();
    throw error;
  }
}
