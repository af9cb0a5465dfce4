import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { cleanFilename } from '@ibid/documents/filename.ts';
import type { Blobs } from '../../../platform/providers/storage/blobs.ts';
import { SNIFFED_BYTES, sniffType } from '../../../wiki/attachments/sniff-type.ts';
import { ArchiveError } from './archive-error.ts';
import { type Archive, shown } from './open-archive.ts';

/** Stores a file of an archive as a blob and detects its type, like the upload of an attachment. */
export async function attachFile(
  archive: Archive,
  name: string,
  { blobs, file_bytes }: { blobs: Blobs; file_bytes: number },
): Promise<{ filename: string; content_type: string; byte_size: number; sha256: string }> {
  if (archive.size(name) > file_bytes) {
    throw new ArchiveError(
      'archive_too_large',
      `${shown(name)} is larger than the limit of ${file_bytes} bytes for a file.`,
    );
  }
  const received = await blobs.receive(Readable.from(archive.chunks(name), { objectMode: false }));
  await received.keep();
  const { sha256, byte_size } = received;
  const start = await buffer(await blobs.stream(sha256, { start: 0, end: SNIFFED_BYTES - 1 }));
  const filename = cleanFilename(name).split('/').at(-1) ?? 'file';
  return { filename, content_type: await sniffType(start), byte_size, sha256 };
}
