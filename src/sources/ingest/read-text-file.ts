import { buffer } from 'node:stream/consumers';
import { ExtractError } from '@ibid/documents/formats/extract-error.ts';
import type { RestOfFile } from '@ibid/documents/formats/extracted.ts';
import { fileKind, isDocument } from '@ibid/documents/formats/file-type.ts';
import { FORMATS, formatOf, isDocumentFormat, type TextFormat } from '@ibid/documents/formats/formats.ts';
import { beginningOf } from '@ibid/documents/formats/large-file.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';

interface StoredFile {
  filename: string;
  content_type: string;
  byte_size: number;
  sha256: string;
}

/** Files up to this size are read whole, whatever their format. */
const ALWAYS_WHOLE = Math.min(...FORMATS.map((format) => (isDocumentFormat(format) ? Infinity : format.bytes_max)));

/** Bytes needed to detect the format of a larger file. */
const SAYS_TYPE = 4_096;

/**
 * Reads a text file: all of it, or the beginning of a text that exceeds its size limit, with counts for the rest. Of
 * other files it returns at least the beginning. Throws errors of the store.
 */
export async function readTextFile(
  blobs: Pick<Blobs, 'read' | 'stream'>,
  { filename, content_type, byte_size, sha256 }: StoredFile,
): Promise<{ bytes: Uint8Array; rest?: RestOfFile }> {
  if (byte_size <= ALWAYS_WHOLE) return { bytes: await blobs.read(sha256) };
  const bytes = await buffer(await blobs.stream(sha256, { start: 0, end: SAYS_TYPE - 1 }));
  const format = formatOfText({ filename, content_type, bytes });
  if (!format) return { bytes };
  if (byte_size <= format.bytes_max) return { bytes: await blobs.read(sha256) };
  return beginningOf(await blobs.stream(sha256), format);
}

/** Returns undefined for documents and for unsupported formats. */
function formatOfText(file: { filename: string; content_type: string; bytes: Uint8Array }): TextFormat | undefined {
  try {
    const format = isDocument(file) ? undefined : formatOf(fileKind(file));
    return format && !isDocumentFormat(format) ? format : undefined;
  } catch (error) {
    if (error instanceof ExtractError) return undefined;
    throw error;
  }
}
