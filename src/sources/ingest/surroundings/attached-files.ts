import { buffer } from 'node:stream/consumers';
import { exportOf } from '@ibid/documents/exports/recognize.ts';
import { ExtractError } from '@ibid/documents/formats/extract-error.ts';
import { fileKind, isDocument, isZip } from '@ibid/documents/formats/file-type.ts';
import { formatByName } from '@ibid/documents/formats/formats.ts';
import { isHidden, isSystemFile } from '@ibid/documents/hidden-files.ts';
import { allRowsOf } from '@ibid/documents/notion-names.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { Db, Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { ClaimedJob } from '../../../platform/jobs/define-job.ts';
import { lockJob } from '../../../platform/jobs/record-queue.ts';
import { type Blobs, mapAtOnce } from '../../../platform/providers/storage/blobs.ts';
import { SNIFFED_BYTES, sniffType } from '../../../wiki/attachments/sniff-type.ts';
import { type CompiledUploadFile, type PendingFile, withAttachmentIds } from '../compiled-upload.ts';
import { HIDDEN_LEFT_OUT } from '../sync-folder.ts';
import { pagesOfNames } from './known-pages.ts';

/** A file that texts show or link to, such as a picture, and that is not a page itself. */
export interface AttachedFile {
  /** null if it belongs to an earlier upload. */
  file_no: number | null;
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
  /**
   * Stands for the attachment id in compiled texts until the page has the attachment. Unique, so it occurs in no other
   * text.
   */
  placeholder: string;
}

/** The note of a table that is part of another one; what leads to it leads to the page of that one. */
export const SAME_TABLE = 'same_table: another file contains all rows of this table';

/** ZIP-based formats that are not supported documents. */
const ARCHIVE_NAME =
  /\.(?:zip|jar|xls[xmb]|xlt[xm]|pp[ts][xm]|pot[xm]|od[tspgf]|pages|key|numbers|vsdx|kmz|3mf|sketch)$/i;

/** Drawings and views that only Obsidian renders. They are JSON and YAML, unsuitable for a page. */
const OBSIDIAN_NAME = /\.(?:canvas|base)$/i;

const BATCH = 500;

/**
 * Marks files of an upload that become no pages. Must run before pages are planned; skips files that are already
 * planned.
 */
export async function findAttachedFiles(
  blobs: Blobs,
  db: Pick<Db, 'query' | 'transaction'>,
  job: ClaimedJob,
): Promise<void> {
  const { wiki_id, upload_id } = job;
  const files = await db.query<Candidate>(sql`
    select file_no, filename, content_type, sha256 from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'file' and status = 'pending' and page_path = ''
      and not is_attachment
    order by file_no`);
  const hidden = await findHiddenFiles(db, job, files);
  const views = await viewsAmong(db, job, files);
  const own = await ownFilesAmong(db, job, files);
  // Skip the type detection for files whose name has a supported format.
  const unnamed = files.filter(
    (file) => !views.has(file) && !own.has(file) && (hidden.has(file) || formatByName(file.filename) === undefined),
  );
  for (let from = 0; from < unnamed.length; from += BATCH) {
    const types = await mapAtOnce(unnamed.slice(from, from + BATCH), async (file) => ({
      file_no: file.file_no,
      content_type: await typeOfAttached(blobs, file, hidden.has(file)),
    }));
    const attached = types.filter(({ content_type }) => content_type !== '');
    if (attached.length === 0) continue;
    await db.transaction(async (query) => {
      await lockJob(query, job);
      await query(sql`
        update upload_files f set is_attachment = true, content_type = g.content_type
        from jsonb_to_recordset(${JSON.stringify(attached)}::jsonb) as g (file_no int, content_type text)
        where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.file_no = g.file_no`);
    });
  }
}

/** The note of a file that belongs to the export of another wiki, and not to that wiki. */
export const OF_EXPORT = 'of_export: the file describes the export and becomes no page';

async function ownFilesAmong(
  db: Pick<Db, 'query' | 'transaction'>,
  job: ClaimedJob,
  files: readonly Candidate[],
): Promise<ReadonlySet<Candidate>> {
  const isNoPage = exportOf(files.map(({ filename }) => filename))?.isNoPage;
  const own = isNoPage ? files.filter(({ filename }) => isNoPage(filename)) : [];
  await markLeftOut(db, job, own, OF_EXPORT);
  return new Set(own);
}

/**
 * Returns Notion files with the rows of one view of a database whose complete table is also in the upload. They become
 * no pages.
 */
async function viewsAmong(
  db: Pick<Db, 'query' | 'transaction'>,
  job: ClaimedJob,
  files: readonly Candidate[],
): Promise<ReadonlySet<Candidate>> {
  const names = new Set(files.map(({ filename }) => filename));
  const views = files.filter(({ filename }) => names.has(allRowsOf(filename) ?? ''));
  if (views.length === 0) return new Set();
  const left = await withoutPages(db.query, job.wiki_id, views);
  await markLeftOut(db, job, left, SAME_TABLE);
  return new Set(left);
}

/**
 * Returns hidden files, which become no pages unless they already have one or the upload has no other files. Marks
 * files that operating systems add as done.
 */
async function findHiddenFiles(
  db: Pick<Db, 'query' | 'transaction'>,
  job: ClaimedJob,
  files: readonly Candidate[],
): Promise<ReadonlySet<Candidate>> {
  const found = files.filter(({ filename }) => isHidden(filename));
  const system = found.filter(({ filename }) => isSystemFile(filename));
  const hidden = found.filter(({ filename }) => !isSystemFile(filename));
  await markLeftOut(db, job, system, HIDDEN_LEFT_OUT);
  if (hidden.length === 0 || found.length === files.length) return new Set();
  return new Set(await withoutPages(db.query, job.wiki_id, hidden));
}

/** Returns the files that have made no page in earlier uploads. */
async function withoutPages(query: Query, wiki_id: string, files: readonly Candidate[]): Promise<Candidate[]> {
  const earlier = await pagesOfNames(
    query,
    wiki_id,
    files.map(({ filename }) => filename),
  );
  const pages = new Set(earlier.map(({ filename }) => filename));
  return files.filter(({ filename }) => !pages.has(filename));
}

async function markLeftOut(
  db: Pick<Db, 'transaction'>,
  job: ClaimedJob,
  files: readonly { file_no: number }[],
  note: string,
): Promise<void> {
  if (files.length === 0) return;
  await db.transaction(async (query) => {
    await lockJob(query, job);
    await query(sql`
      update upload_files set is_attachment = true, status = 'done', error = ${note}
      where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and status = 'pending'
        and file_no = any (${files.map(({ file_no }) => file_no)}::int[])`);
  });
}

interface Candidate {
  file_no: number;
  filename: string;
  content_type: string;
  sha256: string;
}

/** Detects the type of a file that is hidden or cannot be a page; returns "" for other files. */
async function typeOfAttached(
  blobs: Blobs,
  { filename, content_type, sha256 }: Candidate,
  is_hidden: boolean,
): Promise<string> {
  try {
    const start = await buffer(await blobs.stream(sha256, { start: 0, end: SNIFFED_BYTES - 1 }));
    const isPage = !is_hidden && !OBSIDIAN_NAME.test(filename) && canBePage({ filename, content_type, bytes: start });
    return isPage ? '' : await sniffType(start);
  } catch (error) {
    // Compilation reports missing bytes.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function canBePage(file: { filename: string; content_type: string; bytes: Buffer }): boolean {
  const { bytes, filename } = file;
  if (isZip(bytes)) return !ARCHIVE_NAME.test(filename);
  if (isDocument(file)) return true;
  try {
    // Of all text encodings only UTF-16 contains NUL bytes; such a file starts with a BOM or is HTML.
    const isUtf16 = /^(?:\xff\xfe|\xfe\xff)/.test(bytes.toString('latin1', 0, 2));
    return fileKind(file) === 'html' || isUtf16 || !bytes.includes(0);
  } catch (error) {
    if (error instanceof ExtractError) return false;
    throw error;
  }
}

/** Returns the files of an upload that its texts can show, by filename. */
export async function attachedFiles(
  query: Query,
  { wiki_id, upload_id }: { wiki_id: string; upload_id: string },
): Promise<ReadonlyMap<string, AttachedFile>> {
  const files = await query<Omit<AttachedFile, 'placeholder'>>(sql`
    select file_no, filename, content_type, byte_size, sha256 from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and is_attachment and sha256 <> ''
      and error not in (${HIDDEN_LEFT_OUT}, ${SAME_TABLE}, ${OF_EXPORT}) order by file_no desc`);
  return new Map(files.map((file) => [file.filename, { ...file, placeholder: newId('attachment') }]));
}

/**
 * Replaces placeholders of the files that a page shows or links to. Reuses existing attachments of the page, so that
 * unchanged files compile to the same text; other files become attachments when the page is written.
 */
export async function withShownFiles(
  query: Query,
  wiki_id: string,
  attached: ReadonlyMap<string, AttachedFile>,
  compiled: CompiledUploadFile,
): Promise<CompiledUploadFile> {
  const { page, file } = compiled;
  const shown = [...new Set(page?.links)].flatMap((name) => attached.get(name) ?? []);
  if (!page || shown.length === 0) return compiled;
  const known = await query<{ sha256: string; attachment_id: string }>(sql`
    select sha256, attachment_id from attachments where wiki_id = ${wiki_id} and page_id = ${file.page_id}`);
  const ids = new Map(known.map(({ sha256, attachment_id }) => [sha256, attachment_id]));
  const pictures = [...compiled.pictures];
  const idOf = new Map<string, string>();
  for (const { placeholder, filename, content_type, byte_size, sha256 } of shown) {
    const attachment_id = ids.get(sha256) ?? newId('attachment');
    idOf.set(placeholder, attachment_id);
    if (ids.has(sha256)) continue;
    ids.set(sha256, attachment_id);
    const name = filename.slice(filename.lastIndexOf('/') + 1);
    pictures.push({ attachment_id, filename: name, content_type, byte_size, sha256, isOfUpload: true });
  }
  const withIds = (text: string) => text.replace(/attachment_[0-9a-z]{26}/g, (id) => idOf.get(id) ?? id);
  const made = withAttachmentIds(page, withIds);
  return {
    ...compiled,
    page: made,
    result: compiled.result === page ? { ...made, ok: true } : compiled.result,
    pictures,
    shown: shown.flatMap(({ file_no }) => file_no ?? []),
  };
}

/** The error code of a picture or Obsidian drawing that no text shows. */
export const NOT_SHOWN = 'not_shown';

/**
 * Decides about files that no page has attached. Pictures and Obsidian files are left out. Other files fail with the
 * reason for their type, and so do pictures if the upload made no page. Hidden files are marked as done.
 */
export async function leftOut(
  db: Pick<Db, 'query' | 'transaction'>,
  job: ClaimedJob,
  compile: (file: PendingFile) => Promise<CompiledUploadFile[]>,
): Promise<CompiledUploadFile[]> {
  const { query } = db;
  const { wiki_id, upload_id } = job;
  const unshown = await query<PendingFile>(sql`
    select file_no, kind, status, filename, content_type, byte_size, sha256, page_path, page_id, section_of, attempts, renamed_from
    from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and is_attachment and status = 'pending' order by file_no`);
  await markLeftOut(
    db,
    job,
    unshown.filter(({ filename }) => isHidden(filename)),
    HIDDEN_LEFT_OUT,
  );
  const left = unshown.filter(({ filename }) => !isHidden(filename));
  if (left.length === 0) return [];
  const pages = await query(sql`
    select from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'file' and status = 'done' and not is_attachment limit 1`);
  const made: CompiledUploadFile[] = [];
  for (const file of left) {
    const isOfObsidian = OBSIDIAN_NAME.test(file.filename);
    const isLeftOut = isOfObsidian || (pages.length > 0 && /^(?:image|audio|video)\//.test(file.content_type));
    const [read] = isLeftOut ? [] : await compile(file);
    const leftOut = isOfObsidian ? OF_OBSIDIAN : LEFT_OUT;
    const result = !read || read.result.ok ? leftOut : read.result;
    made.push({ file, result, page: undefined, pictures: [] });
  }
  return made;
}

const LEFT_OUT = {
  ok: false,
  code: NOT_SHOWN,
  message: 'no text of the upload refers to this file; upload it together with a text that does',
} as const;

const OF_OBSIDIAN = {
  ok: false,
  code: NOT_SHOWN,
  message: 'only Obsidian can show its drawings (.canvas) and views (.base); write their content as Markdown',
} as const;
