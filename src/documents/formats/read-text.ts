import { csvToMarkdown } from './csv/csv.ts';
import { decodeHtml, decodeText } from './decode.ts';
import { ExtractError } from './extract-error.ts';
import { checkDocument, type Extracted, tooLarge, type UploadedFile } from './extracted.ts';
import { fileKind } from './file-type.ts';
import { FORMATS, formatOf, isDocumentFormat, READABLE, type TextFormat } from './formats.ts';
import { htmlToMarkdown } from './html/html.ts';
import type { TextKind } from './kinds.ts';
import { countCharacters } from './losses.ts';
import { textAsCode, textToMarkdown } from './text/text.ts';

/** The largest text file that is read, in bytes. */
export const TEXT_MAX = Math.max(...FORMATS.map((format) => (isDocumentFormat(format) ? 0 : format.bytes_max)));

const TO_MARKDOWN: Record<TextKind, (text: string) => Partial<Extracted> & { markdown: string }> = {
  markdown: (text) => ({ markdown: text }),
  text: (text) => ({ ...textToMarkdown(text), file_characters: countCharacters(text) }),
  html: (text) => htmlToMarkdown(text),
  csv: csvToMarkdown,
};

/**
 * Converts a text file to Markdown. Deterministic for bytes, name and type. Throws an ExtractError if the file is not
 * text or too long, and a TooComplexError for HTML that is nested too deep.
 */
export function extract(file: UploadedFile): Extracted {
  const { format, text } = readText(file);
  const { kind, media_types } = format;
  return checkDocument({ kind, title: '', language: '', content_type: media_types[0], ...TO_MARKDOWN[kind](text) });
}

/** The unchanged text of a file of any kind, and Markdown that shows it. Throws an ExtractError. */
export function extractAsPlainText(file: UploadedFile): Extracted & { text: string } {
  const { format, text } = readText(file);
  const { kind, media_types } = format;
  const markdown = kind === 'markdown' ? text : textAsCode(text);
  return { ...checkDocument({ kind, markdown, title: '', language: '', content_type: media_types[0] }), text };
}

function readText(file: UploadedFile): { format: TextFormat; text: string } {
  if (file.bytes.length === 0) throw new ExtractError('empty_file', 'the file is empty; upload one with text in it');
  const format = formatOf(fileKind(file));
  if (isDocumentFormat(format)) throw new Error(`a file of kind ${format.kind} is read in a process of its own`);
  if (file.bytes.length > format.bytes_max) throw tooLarge();
  return { format, text: decode(format.kind, file) };
}

function decode(kind: TextKind, { bytes, content_type }: UploadedFile): string {
  try {
    return kind === 'html' ? decodeHtml(bytes, content_type) : decodeText(bytes, content_type);
  } catch (error) {
    if (!(error instanceof ExtractError) || error.code !== 'not_text') throw error;
    throw new ExtractError('not_text', `${error.message}; upload what can be read: ${READABLE}`);
  }
}
