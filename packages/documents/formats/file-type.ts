import { ExtractError } from './extract-error.ts';
import type { UploadedFile } from './extracted.ts';
import {
  type DocumentFormat,
  extensionOf,
  FORMATS,
  type Format,
  formatByName,
  formatByType,
  formatOf,
  isDocumentFormat,
  READABLE,
} from './formats.ts';
import type { Kind } from './kinds.ts';
import { unreadableFile } from './unreadable.ts';

/** The number of bytes from the start of a file that identify its type. */
const EXAMINED = 1_024;

/** Signatures of files that are not text, in Latin-1, with the names of their formats. */
const SIGNATURES: readonly [start: string, name: string][] = [
  ['\x89PNG\r\n\x1a\n', 'pictures'],
  ['\xff\xd8\xff', 'pictures'],
  ['GIF87a', 'pictures'],
  ['GIF89a', 'pictures'],
  ['RIFF', 'pictures, sounds and videos'],
  ['II*\0', 'pictures'],
  ['MM\0*', 'pictures'],
  ['ID3', 'sounds'],
  ['OggS', 'sounds and videos'],
  ['\x7fELF', 'programs'],
  ['MZ', 'programs'],
  ['\xca\xfe\xba\xbe', 'programs'],
  ['\0asm', 'programs'],
  ['SQLite format 3\0', 'databases'],
];

/** Signatures that a text may begin with; they only count if the file also has a byte that text does not have. */
const AMBIGUOUS = new Set(['RIFF', 'ID3', 'OggS', 'MZ']);

/** Signatures of ZIP archives: Word documents, EPUB books, archives. */
const ZIP = ['PK\x03\x04', 'PK\x05\x06'];

type Beginning = Pick<UploadedFile, 'filename' | 'content_type' | 'bytes'>;

export function isMarkdownName(filename: string): boolean {
  return formatByName(filename)?.kind === 'markdown';
}

/** Whether the file name belongs to a format with its own titles, so that the name is not used as a title. */
export function isTitledName(filename: string): boolean {
  return isMarkdownName(filename) || formatByName(filename)?.kind === 'html';
}

/** Whether a file begins with a ZIP signature. */
export function isZip(start: Uint8Array): boolean {
  return ZIP.some((signature) => lettersOf(start, 4) === signature);
}

/** Returns the format of a file by its signature. */
export function formatBySignature(file: Beginning): DocumentFormat | undefined {
  const letters = lettersOf(file.bytes, EXAMINED);
  return FORMATS.filter(isDocumentFormat).find(
    (format) =>
      format.signature !== undefined &&
      (letters.startsWith(format.signature)
        ? !format.needs_name || namedFormat(file) === format
        : format.has_preamble && isBehindLines(format, file, letters)),
  );
}

/** Returns the format by file name, or by declared type for a name without an extension. */
function namedFormat({ filename, content_type }: Beginning): Format | undefined {
  return formatByName(filename) ?? (extensionOf(filename) === '' ? formatByType(content_type) : undefined);
}

/**
 * Whether the signature follows other lines, as output of some programs does. A text may quote it, but then its name or
 * type identifies it as text.
 */
function isBehindLines(format: DocumentFormat, file: Beginning, letters: string): boolean {
  if (!letters.includes(`\n${format.signature}`) && !letters.includes(`\r${format.signature}`)) return false;
  const named = namedFormat(file);
  return named === format || (named === undefined && letters.includes('\0'));
}

/** Whether `readDocument` reads a file, from its first bytes and its name. */
export function isDocument(file: Beginning): boolean {
  return (
    isZip(file.bytes) ||
    formatBySignature(file) !== undefined ||
    isDocumentFormat(formatOf(kindOfText(file, lettersOf(file.bytes, EXAMINED))))
  );
}

/**
 * Detects the kind of a file that is neither a ZIP archive nor has the signature of a format. The content decides; name
 * and declared type only choose between kinds of text, and the default is plain text. Throws an ExtractError
 * (unsupported_type).
 */
export function fileKind(file: Beginning): Kind {
  const unreadable = unreadableFile(file.bytes);
  if (unreadable) throw unreadable;
  const start = lettersOf(file.bytes, EXAMINED);
  const type = typeByContent(start);
  if (type)
    throw new ExtractError('unsupported_type', `${type} cannot become pages; upload one of these formats: ${READABLE}`);
  return kindOfText(file, start);
}

function kindOfText({ filename, content_type }: Beginning, start: string): Kind {
  // UTF-16 reads as letters with NULs between them; no other text contains NUL.
  const letters = start.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replaceAll('\0', '');
  if (/^\s*(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype html|html)[\s>]/is.test(letters)) return 'html';
  const extension = extensionOf(filename);
  const format = extension === '' ? formatByType(content_type) : formatByName(filename);
  // A format with a signature or entry would have been detected by it.
  return format && isText(format) ? format.kind : 'text';
}

function isText(format: Format): boolean {
  return !isDocumentFormat(format) || (format.signature ?? format.entry) === undefined;
}

function lettersOf(bytes: Uint8Array, most: number): string {
  return Buffer.from(bytes.subarray(0, most)).toString('latin1');
}

function typeByContent(start: string): string | undefined {
  const [signature, name] = SIGNATURES.find(([known]) => start.startsWith(known)) ?? [];
  if (signature !== undefined && !(AMBIGUOUS.has(signature) && !start.includes('\0'))) {
    return name;
  }
  // MP4, MOV, HEIC and AVIF begin with a length.
  if (start.slice(4, 8) === 'ftyp') return 'pictures and videos';
  if (
    /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*(?:<!doctype svg[^>]*>\s*)?<svg[\s>]/is.test(
      start,
    )
  ) {
    return 'SVG pictures';
  }
  return undefined;
}

/** Adds advice to an error for a file that is not text; returns other errors unchanged. */
export function withAdvice(error: unknown): unknown {
  if (!(error instanceof ExtractError) || error.code !== 'not_text') return error;
  return new ExtractError('not_text', `${error.message}; upload one of these formats: ${READABLE}`);
}
