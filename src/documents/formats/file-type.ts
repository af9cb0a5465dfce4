import { ExtractError } from './extract-error.ts';
import { unreadableFile } from './unreadable.ts';

/** The readable formats: texts are read here, the others in a separate process. */
export type TextKind = 'markdown' | 'text' | 'html' | 'csv';
export type DocumentKind = 'pdf' | 'docx' | 'epub';
export type Kind = TextKind | DocumentKind;

/** The signatures of files that are not text, in Latin-1, and the names of their formats. */
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

/** Signatures that a text may begin with; they only count if there is also a byte that text does not have. */
const AMBIGUOUS = new Set(['RIFF', 'ID3', 'OggS', 'MZ']);

/** The signatures of PDF and ZIP archives: Word documents, EPUB books, archives. */
const DOCUMENTS = ['%PDF-', 'PK\x03\x04', 'PK\x05\x06'];

const MARKDOWN = /\.(?:md|markdown|mdown|mkd|mdx)$/i;
const HTML = /\.(?:html?|xhtml)$/i;

/** Whether the file name has an extension of Markdown. */
export function isMarkdownName(filename: string): boolean {
  return MARKDOWN.test(filename);
}

/** Whether the file name is of a format that has a title of its own, so that the name is not needed. */
export function isTitledName(filename: string): boolean {
  return MARKDOWN.test(filename) || HTML.test(filename);
}

/** Whether a file is one for `readDocument`, from its first bytes. */
export function isDocument(start: Uint8Array): boolean {
  const letters = Buffer.from(start.subarray(0, 8)).toString('latin1');
  return DOCUMENTS.some((known) => letters.startsWith(known));
}

/**
 * Detects the kind of a text. The content decides; name and declared type only choose between kinds of text, and the
 * default is plain text. Throws an ExtractError (unsupported_type).
 */
export function fileKind(file: { filename: string; content_type: string; bytes: Uint8Array }): TextKind {
  const { filename, content_type } = file;
  const start = Buffer.from(file.bytes.subarray(0, 1_024)).toString('latin1');
  const unreadable = unreadableFile(file.bytes);
  if (unreadable) throw unreadable;
  const type = typeByContent(start);
  if (type) {
    throw new ExtractError(
      'unsupported_type',
      `${type} cannot be read yet; upload Markdown, plain text, HTML, PDF, Word or CSV`,
    );
  }
  // UTF-16 reads as letters with NULs between them; no other text contains NUL.
  const letters = start.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replaceAll('\0', '');
  if (/^\s*(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype html|html)[\s>]/is.test(letters)) return 'html';
  if (MARKDOWN.test(filename)) return 'markdown';
  if (HTML.test(filename)) return 'html';
  if (/\.(?:csv|tsv)$/i.test(filename)) return 'csv';
  if (/\.[a-z0-9]{1,8}$/i.test(filename)) return 'text';
  if (/^text\/(?:x-)?markdown\b/i.test(content_type)) return 'markdown';
  if (/^text\/(?:csv|tab-separated-values)\b/i.test(content_type)) return 'csv';
  return /^(?:text\/html|application\/xhtml\+xml)\b/i.test(content_type) ? 'html' : 'text';
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
