import { TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument } from '../extracted.ts';
import { htmlToMarkdown } from '../html/html.ts';
import type { DocumentKind } from '../kinds.ts';
import { encodeXml } from '../word/xml-tree.ts';
import type { OfficePackage } from './office-package.ts';

/** The result of a reader of an office format. */
interface Read {
  kind: DocumentKind;
  content_type: string;
  html: string;
  title: string;
  file_characters: number;
  rest?: string;
}

/** Converts the HTML of a document to Markdown. Throws an ExtractError if it is nested too deep. */
export function asDocument(
  { html, title, ...about }: Read,
  { pictures, losses }: Pick<OfficePackage, 'pictures' | 'losses'>,
): ExtractedDocument {
  try {
    const read = htmlToMarkdown(`<body>${html}</body>`, {
      pictureAt: (address) => (address.startsWith('attachment:') ? address : ''),
    });
    return {
      ...about,
      markdown: read.markdown,
      title: title || read.title,
      language: '',
      pictures,
      losses: [...losses.losses, ...read.losses],
    };
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error;
    throw new ExtractError('unreadable', 'the document is nested too deep; simplify its tables and upload it again');
  }
}

/** Escapes text for HTML; line breaks become `<br>`, and control characters are removed. */
export function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: HTML has no control characters
  return encodeXml(text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, '')).replace(/\r\n?|\n/g, '<br>');
}

export function widthOf(rows: readonly (readonly unknown[])[]): number {
  return rows.reduce((width, row) => Math.max(width, row.length), 0);
}

/** Renders a table from cells that are already HTML, with the first row as its head. Drops empty rows and columns. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const filled = rows.filter((row) => row.some((cell) => cell !== ''));
  const width = widthOf(filled);
  const columns = Array.from({ length: width }, (_, k) => k).filter((k) => filled.some((row) => (row[k] ?? '') !== ''));
  if (columns.length === 0) return '';
  const lines = filled.map((row, i) => {
    const tag = i === 0 ? 'th' : 'td';
    return `<tr>${columns.map((k) => `<${tag}>${row[k] ?? ''}</${tag}>`).join('')}</tr>`;
  });
  return `<table>${lines.join('')}</table>`;
}
