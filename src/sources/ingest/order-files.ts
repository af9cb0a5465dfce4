import { buffer } from 'node:stream/consumers';
import { CONFLUENCE } from '@ibid/documents/exports/confluence.ts';
import { confluenceTree } from '@ibid/documents/exports/confluence-tree.ts';
import { decodeText } from '@ibid/documents/formats/decode.ts';
import { ExtractError } from '@ibid/documents/formats/extract-error.ts';
import { isMarkdownName } from '@ibid/documents/formats/file-type.ts';
import { type GivenOrder, givenOrder } from '@ibid/documents/order/given-order.ts';
import { orderKind, readOrderFile } from '@ibid/documents/order/order-file.ts';
import { pageWeight, WEIGHT_BYTES } from '@ibid/documents/order/page-weight.ts';
import { ORDER_BYTES_MAX, type OrderFile } from '@ibid/documents/order/read-order.ts';
import type { Db, Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { ClaimedJob } from '../../platform/jobs/define-job.ts';
import { lockJob } from '../../platform/jobs/record-queue.ts';
import { type Blobs, mapAtOnce } from '../../platform/providers/storage/blobs.ts';

export interface FileRow {
  file_no: number;
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
}

/** Limit for all order files of an upload, in bytes: they are parsed in this process, without a time limit. */
const ALL_BYTES_MAX = 2 ** 20;

/** The note of a file that became no page because it was read for the order of the others. */
export const USED_FOR_ORDER = 'used_for_order: the file sets the order of other files and becomes no page';

/** The note of a hidden file, which becomes no page even if it names nothing. */
const NAMES_NOTHING = 'no_order: the file lists no file of its folder';
const HIDDEN_NAME = /(?:^|\/)\.(?:order|pages|nav\.ya?ml)$/i;

/**
 * Reads the page order that the author of the files defined, and marks files that contain only an order; these become
 * no pages. `ignored` names unusable order files for the summary. Must run after archives are unpacked and before pages
 * are planned; a restarted job gets the same result.
 */
export async function readOrder(
  blobs: Pick<Blobs, 'stream'>,
  db: Pick<Db, 'query' | 'transaction'>,
  job: ClaimedJob,
): Promise<{ given: GivenOrder; ignored: string[] }> {
  const files = await db.query<FileRow>(sql`
    select file_no, filename, content_type, byte_size, sha256 from upload_files
    where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and kind = 'file' and sha256 <> ''
      and (not is_attachment or error in (${USED_FOR_ORDER}, ${NAMES_NOTHING}))
    order by file_no`);
  const orders = new Map<string, OrderFile>();
  const broken = new Set<string>();
  const candidates = files.filter(({ filename }) => orderKind(filename) >= 0);
  let bytes = 0;
  for (const file of candidates) {
    const isRead = file.byte_size <= ORDER_BYTES_MAX && (bytes += file.byte_size) <= ALL_BYTES_MAX;
    const text = isRead ? await beginningOf(blobs, file, ORDER_BYTES_MAX) : undefined;
    const read = text === undefined ? 'broken' : readOrderFile(file.filename, text);
    if (read === 'broken') broken.add(file.filename);
    else if (read !== 'not_order') orders.set(file.filename, read);
  }
  const pages = files.filter(({ filename }) => !orders.has(filename));
  const weights = (await hasNewFiles(db.query, job)) ? await weightsOf(blobs, pages) : new Map<string, number>();
  const { foreign, ...given } = givenOrder(
    pages.map(({ filename }) => filename),
    orders,
    weights,
  );
  const isUsed = ({ filename }: FileRow) => orders.has(filename) && !foreign.has(filename);
  const unused = candidates.filter((file) => !isUsed(file) && HIDDEN_NAME.test(file.filename));
  const tree = await readTree(blobs, files);
  await markAsNoPages(db, job, [...candidates.filter(isUsed), ...tree.indexes], USED_FOR_ORDER);
  await markAsNoPages(db, job, unused, NAMES_NOTHING);
  const names = candidates.map(({ filename }) => filename);
  const ignored = names.filter((name) => broken.has(name) || foreign.has(name));
  if (tree.names.size === 0) return { given, ignored };
  const listed = new Map([...given.listed, ...[...tree.names.values()].map((name, at) => [name, at] as const)]);
  return { given: { ...given, listed, names: tree.names }, ignored };
}

/** In bytes. The index of a Confluence space is larger than other order files. */
const INDEX_BYTES_MAX = 2 ** 20;

/**
 * Reads the tree in the `index.html` of a Confluence export. Returns the index files, and tree paths of the other
 * files.
 */
async function readTree(
  blobs: Pick<Blobs, 'stream'>,
  files: readonly FileRow[],
): Promise<{ indexes: FileRow[]; names: ReadonlyMap<string, string> }> {
  const filenames = new Set(files.map(({ filename }) => filename));
  const names = new Map<string, string>();
  const indexes: FileRow[] = [];
  if (!CONFLUENCE.isIn([...filenames])) return { indexes, names };
  for (const file of files.filter(({ filename }) => /(?:^|\/)index\.html$/i.test(filename))) {
    const folder = file.filename.slice(0, file.filename.lastIndexOf('/') + 1);
    const text = file.byte_size <= INDEX_BYTES_MAX ? await beginningOf(blobs, file, INDEX_BYTES_MAX) : undefined;
    const tree = confluenceTree(text ?? '', folder, filenames);
    if (tree.size > 0) indexes.push(file);
    for (const [filename, name] of tree) names.set(filename, name);
  }
  return { indexes, names };
}

/** Whether a file may get a new page; only then do the weights of its siblings matter. */
async function hasNewFiles(query: Query, { wiki_id, upload_id }: ClaimedJob): Promise<boolean> {
  const found = await query(sql`
    select from upload_files f
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.kind = 'file' and f.status = 'pending'
      and not f.is_attachment and f.page_path = ''
      and not exists (
        select from upload_files o where o.wiki_id = f.wiki_id and o.filename = f.filename and o.status = 'done')
    limit 1`);
  return found.length > 0;
}

async function weightsOf(blobs: Pick<Blobs, 'stream'>, files: readonly FileRow[]): Promise<Map<string, number>> {
  const texts = files.filter(({ filename }) => isMarkdownName(filename));
  const weights = await mapAtOnce(texts, async (file) => ({
    filename: file.filename,
    weight: pageWeight((await beginningOf(blobs, file, WEIGHT_BYTES)) ?? ''),
  }));
  return new Map(weights.flatMap(({ filename, weight }) => (weight === undefined ? [] : [[filename, weight]])));
}

/**
 * Reads the beginning of a file as text. Returns undefined if it is not text or its bytes are missing; compilation
 * reports that error.
 */
export async function beginningOf(
  blobs: Pick<Blobs, 'stream'>,
  { sha256, content_type, byte_size }: FileRow,
  most: number,
): Promise<string | undefined> {
  if (byte_size === 0) return '';
  try {
    const bytes = await buffer(await blobs.stream(sha256, { start: 0, end: most - 1 }));
    // Keep whole lines, because the beginning may end inside a character.
    const whole = byte_size > most ? bytes.subarray(0, bytes.lastIndexOf(10) + 1) : bytes;
    return decodeText(whole, content_type);
  } catch (error) {
    if (error instanceof ExtractError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Marks order files as attachments, with their detected type instead of the declared one, so that pages can link to
 * them.
 */
async function markAsNoPages(
  db: Pick<Db, 'transaction'>,
  job: ClaimedJob,
  files: readonly FileRow[],
  note: string,
): Promise<void> {
  if (files.length === 0) return;
  await db.transaction(async (query) => {
    await lockJob(query, job);
    await query(sql`
      update upload_files set is_attachment = true, status = 'done', error = ${note},
        content_type = 'text/plain' || coalesce(substring(content_type from '; *charset=[A-Za-z0-9._:-]+'), '; charset=utf-8')
      where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and status = 'pending' and page_path = ''
        and file_no = any (${files.map(({ file_no }) => file_no)}::int[])`);
  });
}
