import { csvToMarkdown } from './csv/csv.ts';
import { addressOfContent } from './data-pictures.ts';
import { decodeHtml, decodeText, isWindows1252 } from './decode.ts';
import { ExtractError } from './extract-error.ts';
import { checkDocument, type Extracted, type RestOfFile, type UploadedFile } from './extracted.ts';
import { fileKind, isMarkdownName, withAdvice } from './file-type.ts';
import { formatOf, isDocumentFormat, type TextFormat } from './formats.ts';
import { htmlToMarkdown } from './html/html.ts';
import { asHtml, isXhtml } from './html/xhtml.ts';
import type { TextKind } from './kinds.ts';
import { countCharacters, type Loss, lostText } from './losses.ts';
import { readMarkdown } from './markdown/read-markdown.ts';
import { type CutText, cutText } from './text/cut-text.ts';
import { textAsCode, textToMarkdown } from './text/text.ts';

type Converted = Partial<Extracted> & { markdown: string };

const TO_MARKDOWN: Record<TextKind, (text: string, rest?: RestOfFile) => Converted> = {
  markdown: readMarkdown,
  text: (text) => ({ ...textToMarkdown(text), file_characters: countCharacters(text) }),
  html: (text) => htmlToMarkdown(isXhtml(text) ? asHtml(text) : text, { addPicture: addressOfContent }),
  csv: csvToMarkdown,
};

/**
 * Converts a text file to Markdown. A text longer than a document is truncated, and the rest is listed as a loss.
 * Deterministic for bytes, name and type. Throws an ExtractError if the file is not text, and a TooComplexError for
 * HTML that is nested too deep.
 */
export function extract(file: UploadedFile): Extracted {
  const { format, text, characters, losses } = readText(file);
  const { kind, media_types } = format;
  const converted = TO_MARKDOWN[kind](text, file.rest);
  const known = converted.file_characters;
  return checkDocument({
    kind,
    title: '',
    language: '',
    content_type: media_types[0],
    ...converted,
    losses: [...(converted.losses ?? []), ...losses],
    ...(known !== undefined && { file_characters: known + characters }),
  });
}

/** Returns the unchanged text of a file of any kind, and Markdown that shows it. Throws an ExtractError. */
export function extractAsPlainText(file: UploadedFile): Extracted & { text: string } {
  const { format, text, losses } = readText(file);
  const { kind, media_types } = format;
  const markdown = kind === 'markdown' ? text : textAsCode(text);
  const content_type = media_types[0];
  return { ...checkDocument({ kind, markdown, title: '', language: '', content_type, losses }), text };
}

function readText(file: UploadedFile): CutText & { format: TextFormat } {
  // An empty Markdown file is a page with a title.
  if (file.bytes.length === 0 && !isMarkdownName(file.filename))
    throw new ExtractError('empty_file', 'the file is empty; upload a file with text');
  const format = formatOf(fileKind(file));
  if (isDocumentFormat(format)) throw new Error(`a file of kind ${format.kind} is read in a process of its own`);
  const text = decode(format.kind, file);
  // A table is truncated by rows instead.
  const cut = cutText(text, file.rest, format.kind === 'csv' ? Number.POSITIVE_INFINITY : undefined);
  return { format, ...cut, losses: [...assumptions(format.kind, file), ...cut.losses] };
}

/** Lists assumptions that a person should check because the file does not state the facts. */
function assumptions(kind: TextKind, { bytes, content_type }: UploadedFile): Loss[] {
  if (kind !== 'html' || !isWindows1252(bytes, content_type)) return [];
  return [lostText('decoding', '', 'no encoding is named, so it is read as Windows-1252, as browsers do')];
}

function decode(kind: TextKind, { bytes, content_type }: UploadedFile): string {
  try {
    return kind === 'html' ? decodeHtml(bytes, content_type) : decodeText(bytes, content_type);
  } catch (error) {
    throw withAdvice(error);
  }
}
