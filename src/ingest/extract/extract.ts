import { decodeHtml, decodeText } from './decode.ts';
import { ExtractError } from './extract-error.ts';
import { htmlToMarkdown } from './html.ts';
import { textToMarkdown } from './text.ts';

/** What a file holds, as Markdown. */
export interface Extracted {
  kind: 'markdown' | 'text' | 'html';
  markdown: string;
  /** What the format itself calls the document (HTML's <title>), or "". */
  title: string;
  language: string;
  content_type: string;
}

export interface UploadedFile {
  filename: string;
  /** As the client declared it; a hint. */
  content_type: string;
  bytes: Uint8Array;
}

const MARKDOWN_MAX = 1.5 * 2 ** 20;

/** The beginnings of files that are no text, and what to tell whoever uploads one. */
const SIGNATURES: { bytes: number[]; name: string }[] = [
  { bytes: [0x25, 0x50, 0x44, 0x46, 0x2d], name: 'PDF files' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], name: 'ZIP and Office files' },
  { bytes: [0x50, 0x4b, 0x05, 0x06], name: 'ZIP files' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], name: 'old Office files' },
  { bytes: [0x89, 0x50, 0x4e, 0x47], name: 'PNG images' },
  { bytes: [0xff, 0xd8, 0xff], name: 'JPEG images' },
  { bytes: [0x47, 0x49, 0x46, 0x38], name: 'GIF images' },
  { bytes: [0x1f, 0x8b], name: 'gzip files' },
  { bytes: [0x7f, 0x45, 0x4c, 0x46], name: 'programs' },
  { bytes: [0x4d, 0x5a], name: 'programs' },
];

/** The type is told by the content first; name and declared type only choose between kinds of text. */
export function extract(file: UploadedFile): Extracted {
  const { bytes } = file;
  if (bytes.length === 0) throw new ExtractError('empty_file', 'the file is empty');
  const signature = SIGNATURES.find((known) => known.bytes.every((byte, i) => bytes[i] === byte));
  if (signature && !(signature.name === 'programs' && isTextName(file.filename))) {
    throw new ExtractError(
      'unsupported_type',
      `${signature.name} cannot be read yet; upload Markdown, plain text or HTML`,
    );
  }
  const extracted = read(file);
  if (extracted.markdown.length > MARKDOWN_MAX) {
    throw new ExtractError('too_large', 'the text is longer than 1.5 MiB; split it into several files');
  }
  if (extracted.markdown.trim() === '') throw new ExtractError('empty_file', 'the file holds no text');
  return extracted;
}

function read(file: UploadedFile): Extracted {
  const kind = kindOf(file);
  if (kind === 'html') {
    const { markdown, title, language } = htmlToMarkdown(decodeHtml(file.bytes, file.content_type));
    return { kind, markdown, title, language, content_type: 'text/html' };
  }
  const text = decodeText(file.bytes);
  if (kind === 'markdown') return { kind, markdown: text, title: '', language: '', content_type: 'text/markdown' };
  return { kind, markdown: textToMarkdown(text), title: '', language: '', content_type: 'text/plain' };
}

function isTextName(filename: string): boolean {
  return /\.(md|markdown|mdx|txt|text|html?|xhtml)$/i.test(filename);
}

function kindOf({ filename, content_type, bytes }: UploadedFile): Extracted['kind'] {
  if (/\.(html?|xhtml)$/i.test(filename)) return 'html';
  if (/\.(md|markdown|mdx)$/i.test(filename)) return 'markdown';
  if (/\.(txt|text)$/i.test(filename)) return 'text';
  if (/^text\/html\b/i.test(content_type)) return 'html';
  if (/^text\/markdown\b/i.test(content_type)) return 'markdown';
  const start = Buffer.from(bytes.subarray(0, 512)).toString('latin1');
  return /^\s*(<!doctype html|<html)/i.test(start) ? 'html' : 'text';
}
