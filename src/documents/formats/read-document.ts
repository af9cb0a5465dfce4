import { ExtractError } from './extract-error.ts';
import type { ExtractedDocument, UploadedFile } from './extracted.ts';
import { fileKind, formatBySignature, isZip } from './file-type.ts';
import { type DocumentFile, type DocumentFormat, FORMATS, formatOf, isDocumentFormat } from './formats.ts';
import { unreadablePackage } from './unreadable.ts';
import { mimetypeOf } from './zip/unpack.ts';
import { openZip } from './zip/zip.ts';

/** Reads a document in a format that is only parsed in a separate process. Throws an ExtractError. */
export async function readDocument(file: UploadedFile): Promise<ExtractedDocument> {
  if (isZip(file.bytes)) return readPackage({ ...file, entries: openZip(file.bytes) });
  const format = formatBySignature(file.bytes) ?? formatOf(fileKind(file));
  if (!isDocumentFormat(format)) throw new Error(`a file of kind ${format.kind} is read as a text`);
  return format.read({ ...file, entries: [] });
}

function readPackage(file: DocumentFile): Promise<ExtractedDocument> {
  const format = FORMATS.find(
    (each): each is DocumentFormat =>
      isDocumentFormat(each) && each.entry !== undefined && file.entries.some(({ name }) => each.entry?.test(name)),
  );
  if (format) return format.read(file);
  const names = new Set(file.entries.map(({ name }) => name));
  throw (
    unreadablePackage(names, mimetypeOf(file.entries)) ??
    new ExtractError(
      'unsupported_type',
      'the file is an archive and no document; upload it by itself as a .zip file, and not inside of another archive',
    )
  );
}
