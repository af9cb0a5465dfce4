import { ExtractError } from '../extract-error.ts';

/** A cell of a notebook, independent of the nbformat version. */
export interface Cell {
  type: 'markdown' | 'code' | 'raw';
  source: string;
  /** Attached files by name, each as base64 by media type. */
  attachments: Json;
  outputs: readonly Output[];
}

/** One output of a code cell. */
export type Output =
  | { type: 'stream'; text: string }
  | { type: 'error'; text: string }
  /** One value in several forms, by media type: texts, and pictures as base64. */
  | { type: 'data'; data: Json };

export interface Notebook {
  cells: Cell[];
  title: string;
  /** The programming language of code cells as Markdown names it; "" if the notebook does not declare one. */
  language: string;
}

/** A JSON object of unknown shape. */
export type Json = Readonly<Record<string, unknown>>;

/** Parses a notebook of nbformat 3 or 4. Throws an ExtractError if the text is not one. */
export function parseNotebook(text: string): Notebook {
  const notebook = record(parsed(text));
  const version = Number(notebook.nbformat);
  if (version > 4) throw unreadable(`has a newer version (nbformat ${version}); save it as nbformat 4`);
  const worksheets = list(notebook.worksheets).map(record);
  const cells = Array.isArray(notebook.cells) ? notebook.cells : worksheets.flatMap(({ cells }) => list(cells));
  if (!Array.isArray(notebook.cells) && worksheets.length === 0) {
    throw unreadable('has no cells; save it again in Jupyter');
  }
  const metadata = record(notebook.metadata);
  const named = [record(metadata.language_info).name, record(metadata.kernelspec).language];
  const language = named.map(String).find((name) => /^[\w+#.-]{1,30}$/.test(name) && name !== 'undefined') ?? '';
  const title = typeof metadata.title === 'string' ? metadata.title : '';
  return { cells: cells.map((cell) => cellOf(record(cell))), title, language };
}

/** Returns the text of a field, joining a list of lines; "" for any other value. */
export function textOf(field: unknown): string {
  if (typeof field === 'string') return field.replace(/\r\n/g, '\n');
  return list(field).every((line) => typeof line === 'string') ? textOf(list(field).join('')) : '';
}

export function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable('is not valid JSON; save it again in Jupyter');
  }
}

function unreadable(what: string): ExtractError {
  return new ExtractError('unreadable', `the notebook ${what}, and upload it again`);
}

function cellOf(cell: Json): Cell {
  const attachments = record(cell.attachments);
  // nbformat 3 names the code field differently and has cells for headings.
  const source = textOf(cell.source ?? cell.input);
  const outputs = list(cell.outputs).map((output) => outputOf(record(output)));
  switch (cell.cell_type) {
    case 'code':
      return { type: 'code', source, attachments, outputs };
    case 'markdown':
    case 'html':
      return { type: 'markdown', source, attachments, outputs };
    case 'heading': {
      const level = Math.min(6, Math.max(1, Math.round(Number(cell.level)) || 1));
      const words = source.replace(/\s+/g, ' ').trim();
      return { type: 'markdown', source: `${'#'.repeat(level)} ${words}`, attachments, outputs };
    }
    default:
      return { type: 'raw', source, attachments, outputs };
  }
}

/** The media types of the output fields of nbformat 3. */
const FORMS = {
  text: 'text/plain',
  html: 'text/html',
  latex: 'text/latex',
  markdown: 'text/markdown',
  png: 'image/png',
  jpeg: 'image/jpeg',
  svg: 'image/svg+xml',
  javascript: 'application/javascript',
  json: 'application/json',
};

function outputOf(output: Json): Output {
  const { output_type, data, traceback, ename, evalue } = output;
  if (output_type === 'stream') return { type: 'stream', text: textOf(output.text) };
  if (output_type === 'error' || output_type === 'pyerr') {
    const lines = list(traceback).filter((line) => typeof line === 'string');
    return { type: 'error', text: lines.length > 0 ? lines.join('\n') : `${textOf(ename)}: ${textOf(evalue)}` };
  }
  if (data !== undefined) return { type: 'data', data: record(data) };
  const forms = Object.entries(FORMS).flatMap(([name, type]) =>
    output[name] === undefined ? [] : [[type, output[name]]],
  );
  return { type: 'data', data: Object.fromEntries(forms) };
}
