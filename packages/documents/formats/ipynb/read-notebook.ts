import { withPicturesElsewhere } from '../data-pictures.ts';
import { decodeText } from '../decode.ts';
import { collectPictures } from '../document-pictures.ts';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument, UploadedFile } from '../extracted.ts';
import { fencedCode } from '../fenced-code.ts';
import { type LossList, lossList } from '../loss-list.ts';
import { type Cell, type Json, parseNotebook, record } from './notebook-cells.ts';
import { pictureOf, showOutputs } from './outputs.ts';

/** The limit of a notebook in bytes. Most of a large notebook are pictures, stored as base64 text. */
const NOTEBOOK_MAX = 64 * 2 ** 20;

/**
 * Reads a Jupyter notebook: the cells in order, Markdown unchanged, code in the language of the kernel, followed by its
 * outputs. Outputs that only a running program can show are listed as lost. Throws an ExtractError.
 */
export function readNotebook({ bytes, content_type }: UploadedFile): ExtractedDocument {
  if (bytes.length > NOTEBOOK_MAX) {
    const message = `the notebook is larger than ${NOTEBOOK_MAX / 2 ** 20} MiB; clear its outputs and upload it again`;
    throw new ExtractError('too_large', message);
  }
  const { cells, title, language } = parseNotebook(decodeText(bytes, content_type));
  const { pictures, add } = collectPictures();
  const losses: LossList['losses'] = [];
  const parts = cells.flatMap((cell, i) => {
    const list = lossList(`cell ${i + 1}`, losses);
    const blocks = cell.type === 'markdown' ? [markdownOf(cell, add, list)] : codeOf(cell, i, language);
    return [...blocks, ...showOutputs(cell.outputs, add, list)];
  });
  const markdown = `${parts.filter((part) => part.trim() !== '').join('\n\n')}\n`;
  return { kind: 'ipynb', markdown, title, language: '', content_type: 'application/x-ipynb+json', pictures, losses };
}

function codeOf({ type, source }: Cell, i: number, language: string): string[] {
  if (source.trim() === '') return [];
  // Quarto and other tools keep the title and further metadata in a first raw cell, as front matter.
  if (type === 'raw' && i === 0 && /^---\n[\s\S]*\n---\s*$/.test(source)) return [source.trimEnd()];
  return [fencedCode(source, type === 'code' ? language : '')];
}

function markdownOf({ source, attachments }: Cell, add: (bytes: Buffer) => string, losses: LossList): string {
  const pasted = showAttachments(source.replace(/^\n+|(?<!\s)\s+$/g, ''), attachments, add, losses);
  const shown = withPicturesElsewhere(pasted, add);
  return closed(/^---[ \t]*$/m.exec(shown)?.index === 0 ? `***${shown.slice(3)}` : shown);
}

/** Resolves `attachment:name`, the address of a picture that was pasted into a cell. */
function showAttachments(source: string, files: Json, add: (bytes: Buffer) => string, losses: LossList): string {
  return source.replace(/\(attachment:([^\s()]{1,255})\)/g, (written, name: string) => {
    const file = files[name] ?? files[decoded(name)];
    const picture = pictureOf(record(file));
    const address = picture && add(picture);
    if (!address) losses.addThing('picture', name);
    return address ? `(${address})` : written;
  });
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Closes a fence or comment that a cell leaves open; otherwise it would swallow the following cells. */
function closed(markdown: string): string {
  let fence = '';
  for (const line of markdown.split('\n')) {
    const [, marks = '', rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (marks === '') continue;
    if (fence === '') fence = marks[0] === '`' && rest.includes('`') ? '' : marks;
    else if (marks.startsWith(fence) && rest.trim() === '') fence = '';
  }
  const isOpen = markdown.lastIndexOf('<!--') > markdown.lastIndexOf('-->');
  return `${markdown}${fence === '' ? '' : `\n${fence}`}${isOpen ? '\n-->' : ''}`;
}
