import type { LineRun } from '../source-lines.ts';
import { csvToMarkdown } from './csv.ts';
import { decodeHtml, decodeText } from './decode.ts';
import { ExtractError } from './extract-error.ts';
import { type DocumentKind, fileKind, type Kind, type TextKind } from './file-type.ts';
import { htmlToMarkdown } from './html.ts';
import { textAsCode, textToMarkdown } from './text.ts';

export interface UploadedFile {
  filename: string;
  /** As the client declared it: a hint. */
  content_type: string;
  bytes: Uint8Array;
}

/** What a file holds, as Markdown. */
export interface Extracted {
  kind: Kind;
  /** Of a Markdown file, byte for byte what it holds but for byte order mark and line ends. */
  markdown: string;
  /** What the format itself calls the document (HTML's <title>), else "". */
  title: string;
  /** As the format itself says (<html lang>), else "". */
  language: string;
  /** What the file is, whatever was declared. */
  content_type: string;
  /** Of a file that has pages itself (PDF): for each block of the Markdown the pages that it is from. */
  block_pages?: readonly PageRange[];
  /** Of a file that has lines: which of them the Markdown is from, if it is not the file, line by line. */
  lines?: readonly LineRun[];
  /** Text of the file that the Markdown leaves out; lines. */
  rest?: string;
  /** The pictures that the Markdown shows as `attachment:<name>`, until they are attachments of a page. */
  pictures?: readonly Picture[];
}

/** What a document holds that is read in a process of its own. */
export interface ExtractedDocument extends Extracted {
  kind: DocumentKind;
  /** The same with pictures, where taking them costs much more than reading the text, and may break a bound. */
  illustrate?(): Promise<ExtractedDocument>;
}

/** A picture that a document holds. */
export interface Picture {
  /** Made of its content, so that the same document always has the same names; 37 characters. */
  name: string;
  bytes: Uint8Array;
}

/** Pages of a document, counted from 1, both included. */
export interface PageRange {
  first_page: number;
  last_page: number;
}

/** A page's Markdown, in bytes of UTF-8. */
export const MARKDOWN_MAX = 1.5 * 2 ** 20;

/** A document's Markdown, in bytes of UTF-8, which becomes several pages: a bible has half as much. */
const DOCUMENT_MAX = 8 * 2 ** 20;

/** HTML carries much that is not read; UTF-16 takes two bytes where UTF-8 takes one. */
const FILE_MAX: Record<TextKind, number> = {
  html: 8 * 2 ** 20,
  markdown: 2 * DOCUMENT_MAX,
  text: 2 * DOCUMENT_MAX,
  csv: 16 * 2 ** 20,
};

const CONTENT_TYPES: Record<TextKind, string> = {
  html: 'text/html',
  markdown: 'text/markdown',
  text: 'text/plain',
  csv: 'text/csv',
};

/** No text that is read here is larger than this, in bytes. */
export const TEXT_MAX = Math.max(...Object.values(FILE_MAX));

/** What a page leaves out of its source, in UTF-16 units: kept so that it can be found, and no more than a page may have. */
const REST_MAX = 1_000_000;

/**
 * The document that a file is, as Markdown. The same bytes, name and type always come to the same. Throws an
 * ExtractError for a file that is no text or too much of it, and a TooComplexError for HTML nested beyond measure.
 */
export function extract(file: UploadedFile): Extracted {
  const kind = checkedKind(file);
  const content_type = CONTENT_TYPES[kind];
  if (kind === 'html') {
    const { markdown, title, language } = htmlToMarkdown(decodeHtml(file.bytes, file.content_type));
    return checked({ kind, markdown, title, language, content_type });
  }
  const text = decodeText(file.bytes);
  const plain = { kind, title: '', language: '', content_type };
  if (kind === 'markdown') return checked({ ...plain, markdown: text });
  if (kind === 'text') return checked({ ...plain, ...textToMarkdown(text) });
  const { rest, ...table } = csvToMarkdown(text);
  return checked({ ...plain, ...table, rest: rest.slice(0, REST_MAX) });
}

/** The text of a file as it stands, whatever its kind, and as Markdown that shows just that. Throws ExtractError. */
export function extractAsIs(file: UploadedFile): Extracted & { text: string } {
  const kind = checkedKind(file);
  const text = kind === 'html' ? decodeHtml(file.bytes, file.content_type) : decodeText(file.bytes);
  const markdown = kind === 'markdown' ? text : textAsCode(text);
  return { ...checked({ kind, markdown, title: '', language: '', content_type: CONTENT_TYPES[kind] }), text };
}

/** `guides/first-steps.md` reads "first steps". */
export function titleFromFilename(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1);
  const words = name
    .replace(/(?<=.)\.[^.\s]{1,16}$/, '')
    .replace(/[-_\s]+/g, ' ')
    .trim();
  return words || name;
}

function checkedKind(file: UploadedFile): TextKind {
  if (file.bytes.length === 0) throw new ExtractError('empty_file', 'the file is empty; upload one with text in it');
  const kind = fileKind(file);
  if (file.bytes.length > FILE_MAX[kind]) throw tooLarge();
  return kind;
}

/** Throws an ExtractError where there is nothing to show, or more than a document can have. */
export function checked(extracted: Extracted): Extracted {
  const { markdown } = extracted;
  if (markdown.trim() === '') {
    throw new ExtractError('empty_file', 'the file has no text to show; upload one with text in it');
  }
  if (Buffer.byteLength(markdown) > DOCUMENT_MAX) throw tooLarge();
  return extracted;
}

/** Throws an ExtractError for what is more than a page can have. */
export function checkedPage(extracted: Extracted): Extracted {
  if (Buffer.byteLength(extracted.markdown) <= MARKDOWN_MAX) return checked(extracted);
  throw new ExtractError(
    'too_large',
    'the text is longer than a page can be (1.5 MiB), and nothing in it says where to divide it; split it into several files',
  );
}

function tooLarge(): ExtractError {
  return new ExtractError(
    'too_large',
    'the text is longer than a document can be (8 MiB); split it into several files',
  );
}
