import { ExtractError } from './extract-error.ts';

/** What can be read. */
export type Kind = 'markdown' | 'text' | 'html';

/** How files that are no text begin, in Latin-1, and what people call them. */
const SIGNATURES: readonly [start: string, name: string][] = [
  ['%PDF-', 'PDF files'],
  ['PK\x03\x04', 'ZIP archives'],
  ['PK\x05\x06', 'ZIP archives'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'Office files'],
  ['{\\rtf', 'RTF files'],
  ['\x89PNG\r\n\x1a\n', 'pictures'],
  ['\xff\xd8\xff', 'pictures'],
  ['GIF87a', 'pictures'],
  ['GIF89a', 'pictures'],
  ['RIFF', 'pictures, sounds and videos'],
  ['II*\0', 'pictures'],
  ['MM\0*', 'pictures'],
  ['ID3', 'sounds'],
  ['OggS', 'sounds and videos'],
  ['\x1f\x8b', 'compressed files'],
  ['BZh', 'compressed files'],
  ['\xfd7zXZ', 'compressed files'],
  ['\x28\xb5\x2f\xfd', 'compressed files'],
  ['7z\xbc\xaf\x27\x1c', 'compressed files'],
  ['Rar!\x1a', 'compressed files'],
  ['\x7fELF', 'programs'],
  ['MZ', 'programs'],
  ['\xca\xfe\xba\xbe', 'programs'],
  ['\0asm', 'programs'],
  ['SQLite format 3\0', 'databases'],
];

/** Beginnings that a text could have as well; they only count with a byte that no text has. */
const AMBIGUOUS = new Set(['RIFF', 'ID3', 'OggS', 'BZh', 'MZ']);

const ZIP_NAMES: readonly [ending: RegExp, name: string][] = [
  [/\.do[ct][xm]$/i, 'Word files'],
  [/\.xl[st][xm]$/i, 'Excel files'],
  [/\.p[po][ts][xm]$/i, 'PowerPoint files'],
  [/\.od[tsp]$/i, 'OpenDocument files'],
  [/\.epub$/i, 'EPUB books'],
];

/**
 * What kind of text a file is. The content decides; name and declared type only choose between kinds of text, and a text
 * that nothing is known of is plain text. Throws ExtractError (unsupported_type).
 */
export function fileKind(file: { filename: string; content_type: string; bytes: Uint8Array }): Kind {
  const { filename, content_type } = file;
  const start = Buffer.from(file.bytes.subarray(0, 1_024)).toString('latin1');
  const type = typeByContent(start, filename);
  if (type) {
    throw new ExtractError('unsupported_type', `${type} cannot be read yet; upload Markdown, plain text or HTML`);
  }
  // UTF-16 reads as letters with NULs between; no other text has any.
  const letters = start.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replaceAll('\0', '');
  if (/^\s*(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype html|html)[\s>]/is.test(letters)) return 'html';
  if (/\.(?:md|markdown|mdown|mkd|mdx)$/i.test(filename)) return 'markdown';
  if (/\.(?:html?|xhtml)$/i.test(filename)) return 'html';
  if (/\.[a-z0-9]{1,8}$/i.test(filename)) return 'text';
  if (/^text\/(?:x-)?markdown\b/i.test(content_type)) return 'markdown';
  return /^(?:text\/html|application\/xhtml\+xml)\b/i.test(content_type) ? 'html' : 'text';
}

function typeByContent(start: string, filename: string): string | undefined {
  const [signature, name] = SIGNATURES.find(([known]) => start.startsWith(known)) ?? [];
  if (signature !== undefined && !(AMBIGUOUS.has(signature) && !start.includes('\0'))) {
    return signature.startsWith('PK') ? (ZIP_NAMES.find(([ending]) => ending.test(filename))?.[1] ?? name) : name;
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
