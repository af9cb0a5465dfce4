import { ExtractError } from './extract-error.ts';
import type { ExtractedDocument, UploadedFile } from './extracted.ts';
import { fileKind, formatBySignature, isZip, withAdvice } from './file-type.ts';
import {
  type DocumentFile,
  type DocumentFormat,
  FORMATS,
  formatByName,
  formatOf,
  isDocumentFormat,
} from './formats.ts';
import { unreadablePackage } from './unreadable.ts';
import { mimetypeOf } from './zip/unpack.ts';
import { DAMAGED, openZip } from './zip/zip.ts';

const NO_DOCUMENT =
  'the file is an archive, not a document; upload it separately as a .zip file, not inside another archive';

/** Reads a document whose format is only parsed in a separate process. Throws an ExtractError. */
export async function readDocument(file: UploadedFile): Promise<ExtractedDocument> {
  if (isZip(file.bytes)) return readPackage(file);
  const format = formatBySignature(file) ?? formatOf(fileKind(file));
  if (!isDocumentFormat(format)) throw new Error(`a file of kind ${format.kind} is read as a text`);
  try {
    return await format.read({ ...file, entries: [] });
  } catch (error) {
    throw withAdvice(error);
  }
}

/** Reads a ZIP package. Errors name the document format, because users do not know that it is a ZIP archive. */
async function readPackage(file: UploadedFile): Promise<ExtractedDocument> {
  try {
    return await readEntries({ ...file, entries: openZip(file.bytes) });
  } catch (error) {
    const named = formatByName(file.filename);
    const isDamaged = error instanceof ExtractError && (error.message === DAMAGED || error.message === NO_DOCUMENT);
    if (!isDamaged || !named || !isDocumentFormat(named) || named.entry === undefined) throw error;
    throw new ExtractError(
      'unreadable',
      `the ${named.name} file is damaged and cannot be read; save it again and upload it again`,
    );
  }
}

function readEntries(file: DocumentFile): Promise<ExtractedDocument> {
  const mimetype = mimetypeOf(file.entries);
  const format = FORMATS.find(
    (each): each is DocumentFormat =>
      isDocumentFormat(each) &&
      each.entry !== undefined &&
      (each.mimetype === undefined || mimetype.startsWith(each.mimetype)) &&
      file.entries.some(({ name }) => each.entry?.test(name)),
  );
  if (format) return format.read(file);
  const names = new Set(file.entries.map(({ name }) => name));
  throw unreadablePackage(names, mimetype) ?? new ExtractError('unsupported_type', NO_DOCUMENT);
}
