import type { ExtractedDocument } from './extract.ts';
import { ExtractError } from './extract-error.ts';
import { mimetypeOf } from './unpack.ts';
import { unreadablePackage } from './unreadable.ts';
import { openZip } from './zip.ts';

/** The limit of the unpacked size of a document; real ones have a few megabytes of text. */
const MAX_UNPACKED_BYTES = 256 * 2 ** 20;

/**
 * Reads a document in a format that is only parsed in a separate process. Throws an ExtractError. Parsers are loaded on
 * demand: a process serves one upload, and loading all of them takes longer than reading most documents.
 */
export async function readDocument(bytes: Uint8Array): Promise<ExtractedDocument> {
  if (Buffer.from(bytes.buffer, bytes.byteOffset, 5).toString('latin1') === '%PDF-') {
    const { readPdf } = await import('./pdf/read-pdf.ts');
    return readPdf(bytes);
  }
  const entries = openZip(bytes);
  const names = new Set(entries.map(({ name }) => name));
  if (names.has('word/document.xml')) {
    let left = MAX_UNPACKED_BYTES;
    for (const entry of entries) left -= entry.read(left).length;
    const { readDocx } = await import('./docx.ts');
    return readDocx(bytes);
  }
  if (names.has('META-INF/container.xml')) {
    const { readEpub } = await import('./epub.ts');
    return readEpub(entries);
  }
  const unreadable = unreadablePackage(names, mimetypeOf(entries));
  if (unreadable) throw unreadable;
  throw new ExtractError(
    'unsupported_type',
    'the file is an archive and no document; upload it by itself as a .zip file, and not inside of another archive',
  );
}
