import { cleanFilename } from '@ibid/documents/filename.ts';
import {
  BYTES_MAX,
  FILES_MAX,
  isArchiveName,
  LEFT_OUT_NAMED,
  type LeftOut,
} from '@ibid/documents/formats/zip/unpack.ts';
import type { Unpacked, UnpackedFile } from '../../../platform/sandbox/document-messages.ts';
import type { CompilingNeeds } from '../compile-upload-file.ts';

/** A future row of upload_files. */
export interface PackedRow {
  filename: string;
  byte_size: number;
  sha256: string;
  status: 'pending' | 'failed';
  error: string;
}

/** The stored files of an archive, and its entries that are not files. */
interface OpenedArchive {
  is: 'archive';
  rows: PackedRow[];
  left_out: LeftOut;
}

/** Names of the parts of a split export. */
const PART_NAME = /(?:^|[-_ ])part[-_ ]?\d+\.zip$/i;

/** The folder around a Notion export; its id differs for each export. */
const EXPORT_FOLDER = /^Export-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\//i;

function holdsArchivesOnly(rows: readonly PackedRow[]): boolean {
  return rows.length > 0 && rows.every(({ filename }) => isArchiveName(filename));
}

function sumLeftOut(each: readonly LeftOut[]): LeftOut {
  return {
    hidden: each.reduce((sum, { hidden }) => sum + hidden, 0),
    symbolic_links: each.reduce((sum, { symbolic_links }) => sum + symbolic_links, 0),
    names: each.flatMap(({ names }) => names).slice(0, LEFT_OUT_NAMED),
  };
}

interface Reading extends Pick<CompilingNeeds, 'blobs' | 'reader'> {
  upload_id: string;
}

interface StoredArchive {
  byte_size: number;
  sha256: string;
}

type Opened = OpenedArchive | Exclude<Unpacked, { is: 'archive' }>;

/**
 * Stores the files of an archive. Opens nested archives if it contains nothing else. Prefixes filenames with `folder`.
 */
export async function readArchive(reading: Reading, archive: StoredArchive, folder: string): Promise<Opened> {
  const outer = await readFiles(reading, archive, folder);
  return outer.is === 'archive' && holdsArchivesOnly(outer.rows) ? openInner(reading, outer, folder) : outer;
}

/** Stores the files of nested archives. Parts of one export share a folder; other archives get a folder each. */
async function openInner(reading: Reading, outer: OpenedArchive, folder: string): Promise<OpenedArchive> {
  const rows: PackedRow[] = [];
  const left_outs = [outer.left_out];
  const isOneFolder = outer.rows.length === 1 || outer.rows.every(({ filename }) => PART_NAME.test(filename));
  for (const packed of outer.rows) {
    const own = isOneFolder ? folder : `${packed.filename.replace(/\.zip$/i, '')}/`;
    const inner = packed.status === 'pending' ? await readFiles(reading, packed, own) : undefined;
    if (inner?.is === 'archive') {
      rows.push(...inner.rows);
      left_outs.push(inner.left_out);
    } else if (inner?.is === 'broken') {
      rows.push({ ...packed, sha256: '', byte_size: 0, status: 'failed', error: `${inner.code}: ${inner.message}` });
    } else rows.push(packed);
    // Stop early: the upload will be refused, and small archives can unpack to a lot.
    if (rows.length > FILES_MAX || rows.reduce((sum, row) => sum + row.byte_size, 0) > BYTES_MAX) break;
  }
  return { is: 'archive', rows, left_out: sumLeftOut(left_outs) };
}

/** Stores the files of a single archive. Prefixes filenames with `folder`. */
async function readFiles(
  { blobs, reader, upload_id }: Reading,
  { byte_size, sha256 }: StoredArchive,
  folder: string,
): Promise<Opened> {
  const rows: PackedRow[] = [];

  async function take(files: readonly UnpackedFile[]): Promise<void> {
    const kept = await blobs.keepAll(files.flatMap((file) => (file.ok ? [file.bytes] : [])));
    const hashes = kept.values();
    for (const file of files) {
      const filename = cleanFilename(folder + file.name.replace(EXPORT_FOLDER, ''));
      rows.push(
        file.ok
          ? {
              filename,
              byte_size: file.bytes.length,
              sha256: hashes.next().value ?? '',
              status: 'pending',
              error: '',
            }
          : { filename, byte_size: 0, sha256: '', status: 'failed', error: `${file.code}: ${file.message}` },
      );
    }
  }

  const open = () => blobs.stream(sha256);
  const unpacked = await reader.unpack({ owner: upload_id, byte_size, open }, take);
  return unpacked.is === 'archive' ? { is: 'archive', rows, left_out: unpacked.left_out } : unpacked;
}
