import { plainName } from '../notion-names.ts';
import type { LineRun } from '../source-lines.ts';
import { ExtractError } from './extract-error.ts';
import type { DocumentKind, Kind } from './kinds.ts';
import type { Loss } from './losses.ts';

export interface UploadedFile {
  filename: string;
  /** The type declared by the client; only a hint. */
  content_type: string;
  bytes: Uint8Array;
  /** The unread rest of a file that is too large to be read completely. */
  rest?: RestOfFile;
}

/** The size of the unread part of a file: lines, and characters without white space. */
export interface RestOfFile {
  lines: number;
  characters: number;
}

/** The content of a file as Markdown. */
export interface Extracted {
  kind: Kind;
  /** For a Markdown file, its text without the byte order mark and with LF line ends. */
  markdown: string;
  /** The document's own title (HTML's <title>), or "". */
  title: string;
  /** The document's own language (<html lang>), or "". */
  language: string;
  /** The detected type, regardless of the declared type. */
  content_type: string;
  /** For files with pages (PDF): the pages of each block of the Markdown. */
  block_pages?: readonly PageRange[];
  /**
   * For files with lines, paragraphs (Word) or chapters (EPUB): the source of each line of the Markdown; undefined if
   * the Markdown is the file.
   */
  lines?: readonly LineRun[];
  /** Text of the file that the Markdown omits, as lines. */
  rest?: string;
  /** The pictures that the Markdown shows as `attachment:<name>`, before they are stored as attachments. */
  pictures?: readonly Picture[];
  /** Content of the file that the Markdown omits. */
  losses?: readonly Loss[];
  /**
   * An independent count of the characters in the file's text, without white space (PDF: text operators; Word: w:t;
   * HTML: text nodes). Undefined if they were not counted.
   */
  file_characters?: number;
}

/** The content of a document that is read in a separate process. */
export interface ExtractedDocument extends Extracted {
  kind: DocumentKind;
  /**
   * Returns the same document with its pictures, and with tables corrected by drawn lines. Set if finding them costs
   * much more than the text and may exceed a limit.
   */
  readMore?(): Promise<ExtractedDocument>;
}

export interface Picture {
  /** Derived from the content, so that the same document always has the same names; 37 characters. */
  name: string;
  bytes: Uint8Array;
}

/** Pages of a document, counted from 1, inclusive. */
export interface PageRange {
  first_page: number;
  last_page: number;
  /**
   * The places of the paragraph, or of each list item or table row: rectangles of five integers, page, left, top,
   * right, bottom, in points from the upper left corner of the displayed page.
   */
  boxes?: number[][];
}

/** The limit of a page's Markdown, in bytes of UTF-8. */
export const MARKDOWN_MAX = 1.5 * 2 ** 20;

/** The limit of a document that is split into pages, in bytes of UTF-8; a bible has half as much. */
export const DOCUMENT_MAX = 8 * 2 ** 20;

/** Turns a file name into a title: `guides/first-steps.md` becomes "first steps". */
export function titleFromFilename(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  const words = plainName(name)
    .replace(/(?<=.)\.[^.\s]{1,16}$/, '')
    .replace(/[-_\s]+/g, ' ')
    .trim();
  return words || name;
}

/**
 * Throws an ExtractError if a document other than a Markdown note is empty, or if it exceeds the limit of a document.
 */
export function checkDocument(extracted: Extracted): Extracted {
  const { kind, markdown } = extracted;
  if (markdown.trim() === '' && kind !== 'markdown') {
    throw new ExtractError('empty_file', 'the file contains no text; upload a file with text');
  }
  if (Buffer.byteLength(markdown) > DOCUMENT_MAX) throw tooLarge();
  return extracted;
}

/** Throws an ExtractError if the Markdown exceeds the limit of a page. */
export function checkPage(extracted: Extracted): Extracted {
  if (Buffer.byteLength(extracted.markdown) <= MARKDOWN_MAX) return checkDocument(extracted);
  throw new ExtractError(
    'too_large',
    'the text is longer than a page can be (1.5 MiB), and cannot be split automatically; split it into several files',
  );
}

function tooLarge(): ExtractError {
  return new ExtractError(
    'too_large',
    'the text is longer than a document can be (8 MiB); split it into several files',
  );
}
