import { lineEndsIn } from '@ibid/markdown/plain-text.ts';
import type { Root, TableRow } from 'mdast';
import { addRun, type LineRun } from '../../source-lines.ts';
import { ExtractError } from '../extract-error.ts';
import type { RestOfFile } from '../extracted.ts';
import { type Loss, lostText } from '../losses.ts';
import { markdownWriter } from '../markdown-writer.ts';

/** The limit of rows that a page shows; the file has the rest. */
const ROWS_MAX = 1_000;
const COLUMNS_MAX = 100;
const SHOWN_MAX = 512 * 1024;
const CELL_MAX = 2_000;

/** If the last row of a partially read file is longer than this, in UTF-16 units, its quote is never closed. */
const CUT_ROW_MAX = 2 ** 20;

/** The limit of omitted text that is kept for search, in UTF-16 units; pages have the same limit. */
const REST_MAX = 1_000_000;

/** A first line that declares the separator for Excel; it is not a row. */
const SAID_SEPARATOR = /^"?sep=(.)"?\n/i;

const writer = markdownWriter({ tablePipeAlign: false });

/**
 * Converts comma-separated values (RFC 4180; also separated by semicolons, tabs or bars) to a table with the first row
 * as the head. A long file is truncated, with a note that says how many rows it has; `rest` is the omitted text as
 * lines. `lines` maps rows to lines of the file. `behind`: the unread rest of the file, in which case the text may end
 * within a row. Throws an ExtractError if a quote is never closed.
 */
export function csvToMarkdown(text: string, behind?: RestOfFile): Table {
  const [said = '', saidSeparator] = SAID_SEPARATOR.exec(text) ?? [];
  const separator = saidSeparator ?? separatorOf(text);
  const records = readRecords(text, said.length, separator, behind !== undefined);
  const rows = records.map(({ row }) => row);
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const width = Math.min(columns, COLUMNS_MAX);
  let length = 0;
  let shown = 0;
  for (const row of rows.slice(0, ROWS_MAX + 1)) {
    length +=
      row.slice(0, width).reduce((sum, cell) => sum + Math.min(cell.length, CELL_MAX) + 3, 0) +
      3 * (width - row.length);
    if (length > SHOWN_MAX && shown > 1) break;
    shown += 1;
  }
  const root: Root = {
    type: 'root',
    children: [{ type: 'table', children: rows.slice(0, shown).map((row) => tableRow(row, width)) }],
  };
  const notes: string[] = [];
  const { lines: further = 0 } = behind ?? {};
  if (shown < rows.length + further) {
    // A row may span several lines, so the number is approximate.
    const of = `${further > 0 ? 'about ' : ''}${count(rows.length - 1 + further)}`;
    notes.push(`the first ${count(shown - 1)} of ${of} rows`);
  }
  if (width < columns) notes.push(`the first ${count(width)} of ${count(columns)} columns`);
  if (notes.length > 0) {
    const value = `This page shows ${notes.join(' and ')}; the file has them all.`;
    root.children.push({ type: 'paragraph', children: [{ type: 'text', value }] });
  }
  const rest = rows.flatMap((row, i) => {
    const omitted = i < shown ? omittedOf(row, width) : row;
    return omitted.length === 0 ? [] : [omitted.map(oneLine).join(' ')];
  });
  return {
    markdown: writer.stringify(root),
    ...boundRest(rest.join('\n')),
    lines: linesOf(records.slice(0, shown)),
    file_characters: countCells(text.slice(said.length), separator),
  };
}

interface Table {
  markdown: string;
  rest: string;
  losses: Loss[];
  lines: LineRun[];
  file_characters: number;
}

function boundRest(rest: string): Pick<Table, 'rest' | 'losses'> {
  const losses = rest.length > REST_MAX ? [lostText('cut_text', rest.slice(REST_MAX), 'the last rows')] : [];
  return { rest: rest.slice(0, REST_MAX), losses };
}

/** Returns the text of a row beyond the last column, or beyond the limit of a cell. */
function omittedOf(row: readonly string[], width: number): string[] {
  const ends = row.slice(0, width).map((cell) => oneLine(cell).slice(CELL_MAX));
  return [...ends.filter((end) => end !== ''), ...row.slice(width)];
}

/** Counts the characters of all cells without white space, and without building the cells. */
function countCells(text: string, separator: string): number {
  let count = 0;
  let isQuoted = false;
  let isCellStart = true;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '"' && (isCellStart || isQuoted)) {
      if (isQuoted && text[at + 1] === '"') {
        count += 1;
        at += 1;
      } else isQuoted = !isQuoted;
      isCellStart = false;
    } else if (!isQuoted && (character === separator || character === '\n')) {
      isCellStart = true;
    } else {
      if (!/\s/.test(character)) count += 1;
      isCellStart = false;
    }
  }
  return count;
}

/** Maps rows to lines; the delimiter row follows the head, and an empty line follows the table. */
function linesOf(records: readonly CsvRecord[]): LineRun[] {
  const lines: LineRun[] = [];
  for (const [i, { line, height }] of records.entries()) addRun(lines, { at: i === 0 ? 1 : i + 2, line, height });
  addRun(lines, { at: records.length + 2, line: 0, height: 1 });
  return lines;
}

function count(n: number): string {
  return n.toLocaleString('en');
}

function tableRow(row: readonly string[], width: number): TableRow {
  return {
    type: 'tableRow',
    children: Array.from({ length: width }, (_, i) => {
      const value = oneLine(row[i] ?? '');
      return { type: 'tableCell', children: value === '' ? [] : [{ type: 'text', value: value.slice(0, CELL_MAX) }] };
    }),
  };
}

function oneLine(cell: string): string {
  return cell.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** Returns the most frequent separator in the first line, ignoring quoted text. */
function separatorOf(text: string): string {
  const line =
    text
      .slice(0, 10_000)
      .replace(/"[^"]*"/g, '')
      .split('\n', 1)[0] ?? '';
  const counts = [',', ';', '\t', '|'].map((separator) => ({ separator, n: line.split(separator).length }));
  return counts.reduce((best, each) => (each.n > best.n ? each : best)).separator;
}

interface CsvRecord {
  row: string[];
  /** The first line of the record in the file, counted from 1, and the number of its lines. */
  line: number;
  height: number;
}

/** `isCut`: the text is the beginning of a file and may end within a cell. */
function readRecords(text: string, from: number, separator: string, isCut: boolean): CsvRecord[] {
  const records: CsvRecord[] = [];
  let row: string[] = [];
  let start = from;
  let line = 1 + lineEndsIn(text.slice(0, from));
  let at = from;
  while (at < text.length) {
    let cell: string;
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1);
      if (end < 0 && isCut && text.length - start < CUT_ROW_MAX) return records;
      if (end < 0) throw neverClosed();
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
      // Text between a closing quote and the separator is malformed, but kept.
      const next = endOfCell(text, at, separator);
      cell += text.slice(at, next);
      at = next;
    } else {
      const next = endOfCell(text, at, separator);
      cell = text.slice(at, next);
      at = next;
    }
    row.push(cell);
    if (text[at] === separator && at + 1 < text.length) {
      at += 1;
      continue;
    }
    if (text[at] === separator) row.push('');
    const height = 1 + lineEndsIn(text.slice(start, at));
    at += 1;
    if (row.some((value) => value.trim() !== '')) records.push({ row, line, height });
    row = [];
    line += height;
    start = at;
  }
  return records;
}

/** Returns the offset of the quote that closes a cell; -1 without one. */
function closingQuote(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0) return -1;
    if (text[at + 1] !== '"') return at;
  }
}

function neverClosed(): ExtractError {
  return new ExtractError(
    'unreadable',
    'a quote in the CSV file is never closed; correct it and upload the file again',
  );
}

function endOfCell(text: string, from: number, separator: string): number {
  for (let at = from; at < text.length; at += 1) if (text[at] === separator || text[at] === '\n') return at;
  return text.length;
}
