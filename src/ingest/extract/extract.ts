import { decodeHtml, decodeText } from './decode.ts';
import { ExtractError } from './extract-error.ts';
import { fileKind, type Kind } from './file-type.ts';
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
}

/** A page's Markdown, in bytes of UTF-8. */
const MARKDOWN_MAX = 1.5 * 2 ** 20;

/** HTML carries much that is not read; UTF-16 takes two bytes where UTF-8 takes one. */
const FILE_MAX: Record<Kind, number> = { html: 8 * 2 ** 20, markdown: 2 * MARKDOWN_MAX, text: 2 * MARKDOWN_MAX };

/**
 * The document that a file is, as Markdown. The same bytes, name and type always come to the same. Throws an
 * ExtractError for a file that is no text or too much of it, and a TooComplexError for HTML nested beyond measure.
 */
export function extract(file: UploadedFile): Extracted {
  const kind = checkedKind(file);
  if (kind === 'html') {
    const { markdown, title, language } = htmlToMarkdown(decodeHtml(file.bytes, file.content_type));
    return checked({ kind, markdown, title, language, content_type: 'text/html' });
  }
  const text = decodeText(file.bytes);
  if (kind === 'markdown') {
    return checked({ kind, markdown: text, title: '', language: '', content_type: 'text/markdown' });
  }
  return checked({ kind, markdown: textToMarkdown(text), title: '', language: '', content_type: 'text/plain' });
}

/** The text of a file as it stands, whatever its kind, and as Markdown that shows just that. Throws ExtractError. */
export function extractAsIs(file: UploadedFile): Extracted & { text: string } {
  const kind = checkedKind(file);
  const text = kind === 'html' ? decodeHtml(file.bytes, file.content_type) : decodeText(file.bytes);
  const markdown = kind === 'markdown' ? text : textAsCode(text);
  const content_type = { html: 'text/html', markdown: 'text/markdown', text: 'text/plain' }[kind];
  return { ...checked({ kind, markdown, title: '', language: '', content_type }), text };
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

function checkedKind(file: UploadedFile): Kind {
  if (file.bytes.length === 0) throw new ExtractError('empty_file', 'the file is empty; upload one with text in it');
  const kind = fileKind(file);
  if (file.bytes.length > FILE_MAX[kind]) throw tooLarge();
  return kind;
}

function checked(extracted: Extracted): Extracted {
  const { markdown } = extracted;
  if (markdown.trim() === '') {
    throw new ExtractError('empty_file', 'the file has no text to show; upload one with text in it');
  }
  if (Buffer.byteLength(markdown) > MARKDOWN_MAX) throw tooLarge();
  return extracted;
}

function tooLarge(): ExtractError {
  return new ExtractError('too_large', 'the text is longer than a page can be (1.5 MiB); split it into several files');
}
