import { plainName } from '../notion-names.ts';
import type { LineRun } from '../source-lines.ts';
import { ExtractError } from './extract-error.ts';
import type { DocumentKind, Kind } from './kinds.ts';
import type { Loss } from './losses.ts';

export interface UploadedFile {
  filename: string;
  /** As declared by the client: a hint. */
  content_type: string;
  bytes: Uint8Array;
  /** What follows `bytes` in a file that is too large to be read as a whole. */
  rest?: RestOfFile;
}

/** The part of a file that is not read: its lines, and its characters, white space not counted. */
export interface RestOfFile {
  lines: number;
  characters: number;
}

/** The content of a file as Markdown. */
export interface Extracted {
  kind: Kind;
  /** For a Markdown file its text, without the byte order mark and with LF line ends. */
  markdown: string;
  /** The document's own title (HTML's <title>), else "". */
  title: string;
  /** The document's own language (<html lang>), else "". */
  language: string;
  /** The detected type, whatever was declared. */
  content_type: string;
  /** For files with pages (PDF): the pages of each block of the Markdown. */
  block_pages?: readonly PageRange[];
  /** For files with lines, paragraphs (Word) or chapters (EPUB): those that the Markdown is from; undefined if the Markdown is the file. */
  lines?: readonly LineRun[];
  /** Text of the file that the Markdown omits, as lines. */
  rest?: string;
  /** The pictures that the Markdown shows as `attachment:<name>`, before they are stored as attachments. */
  pictures?: readonly Picture[];
  /** What of the file the Markdown does not have. */
  losses?: readonly Loss[];
  /**
   * An independent count of the characters of the file's text, white space not counted (PDF: of its text operators; Word:
   * of w:t; HTML: of text nodes). Undefined if they were not counted.
   */
  file_characters?: number;
}

/** The content of a document that is read in a separate process. */
export interface ExtractedDocument extends Extracted {
  kind: DocumentKind;
  /**
   * Returns the same document with its pictures and what its drawings tell about its tables, if finding them costs much
   * more than the text and may exceed a limit.
   */
  readMore?(): Promise<ExtractedDocument>;
}

/** A picture in a document. */
export interface Picture {
  /** Derived from the content, so that the same document always gives the same names; 37 characters. */
  name: string;
  bytes: Uint8Array;
}

/** Pages of a document, counted from 1, inclusive. */
export interface PageRange {
  first_page: number;
  last_page: number;
  /**
   * Where the paragraph is, or each item of a list and row of a table: rectangles, five integers each: page, left, top,
   * right, bottom, in points from the upper left corner of the page as it is shown.
   */
  boxes?: number[][];
}

/** The limit of a page's Markdown, in bytes of UTF-8. */
export const MARKDOWN_MAX = 1.5 * 2 ** 20;

/** The limit of a document that is split into pages, in bytes of UTF-8: a bible has half as much. */
export const DOCUMENT_MAX = 8 * 2 ** 20;

/** `guides/first-steps.md` becomes "first steps". */
export function titleFromFilename(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  const words = plainName(name)
    .replace(/(?<=.)\.[^.\s]{1,16}$/, '')
    .replace(/[-_\s]+/g, ' ')
    .trim();
  return words || name;
}

/** Throws an ExtractError if there is nothing to show, unless it is an empty note, or more than the limit of a document. */
export function checkDocument(extracted: Extracted): Extracted {
  const { kind, markdown } = extracted;
  if (markdown.trim() === '' && kind !== 'markdown') {
    throw new ExtractError('empty_file', 'the file has no text to show; upload one with text in it');
  }
  if (Buffer.byteLength(markdown) > DOCUMENT_MAX) throw tooLarge();
  return extracted;
}

/** Throws an ExtractError if there is more than the limit of a page. */
export function checkPage(extracted: Extracted): Extracted {
  if (Buffer.byteLength(extracted.markdown) <= MARKDOWN_MAX) return checkDocument(extracted);
  throw new ExtractError(
    'too_large',
    'the text is longer than a page can be (1.5 MiB), and nothing in it says where to divide it; split it into several files',
  );
}

/** Of a text that is longer than a document can be. */
function tooLarge(): ExtractError {
  return new ExtractError(
    'too_large',
    'the text is longer than a document can be (8 MiB); split it into several files',
  );
}
