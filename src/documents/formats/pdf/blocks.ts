import { addRun, type Line, type Run, rowsOf, wordsOf } from './lines.ts';

/** A part of a document, before it is known what its size means. */
export interface PdfBlock {
  kind: 'text' | 'item' | 'table' | 'picture';
  /** Of a table empty; of a picture one without words, which leads to it. */
  runs: Run[];
  /** Of a table; else empty. */
  rows: Run[][][];
  size: number;
  /** Whether its last line reaches the column's end, so that it may go on elsewhere. */
  isFull: boolean;
  /** Where it stands, in the order in which it is read: more than one place if it goes on in another column. */
  places: Place[];
}

/** A rectangle of a page, which is counted from 1; in points, and y grows upwards. */
export interface Place {
  page: number;
  x: number;
  right: number;
  top: number;
  bottom: number;
}

/** Words that the document itself writes with a hyphen, in lower case: such a hyphen stays at the end of a line. */
export type Hyphenated = ReadonlySet<string>;

const BULLET = /^\s*[•‣◦▪●○■–*·-]\s+(?=\S)/;
const NUMBER = /^\s*\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s+(?=\S)/;

/** No word that is broken at the end of a line is longer. */
const WORD_MAX = 100;
const HYPHENS = '-\u00ad\u2010';

/** The blocks of one column: paragraphs, items of lists, tables. */
export function blocksOfColumn(lines: readonly Line[], page: number, hyphenated: Hyphenated): PdfBlock[] {
  const rows = rowsOf(lines);
  const left = Math.min(...lines.map((line) => line.x));
  const right = Math.max(...lines.map((line) => line.right));
  const leading = usualLeading(rows);
  const blocks: PdfBlock[] = [];
  let before: Line | undefined;
  for (let i = 0; i < rows.length; i += 1) {
    const table = tableAt(rows, i);
    if (table > 0) {
      const cells = rows.slice(i, i + table).map((row) => row.map(({ runs }) => trimmed(runs)));
      const size = rows[i]?.[0]?.size ?? 0;
      const places = [placeOf(rows.slice(i, i + table).flat(), page)];
      blocks.push({ kind: 'table', runs: [], rows: cells, size, isFull: false, places });
      i += table - 1;
      before = undefined;
      continue;
    }
    const line = asOneLine(rows[i] ?? []);
    if (!line) continue;
    const last = blocks.at(-1);
    const isFull = line.right > right - 0.12 * (right - left);
    if (before && last && last.kind !== 'table' && goesOn(before, line, last, { left, right, leading })) {
      joinRuns(last.runs, line.runs, hyphenated);
      last.isFull = isFull;
      widen(last.places[0], placeOf([line], page));
    } else {
      const { words } = line;
      const kind = BULLET.test(words) || (NUMBER.test(words) && line.x > left - 1) ? 'item' : 'text';
      const runs = line.runs.map((run) => ({ ...run }));
      blocks.push({ kind, runs, rows: [], size: line.size, isFull, places: [placeOf([line], page)] });
    }
    before = line;
  }
  return blocks;
}

function placeOf(lines: readonly Line[], page: number): Place {
  return {
    page,
    x: Math.min(...lines.map((line) => line.x)),
    right: Math.max(...lines.map((line) => line.right)),
    top: Math.max(...lines.map((line) => line.y + line.size)),
    bottom: Math.min(...lines.map((line) => line.y)),
  };
}

function widen(place: Place | undefined, more: Place): void {
  if (!place) return;
  place.x = Math.min(place.x, more.x);
  place.right = Math.max(place.right, more.right);
  place.top = Math.max(place.top, more.top);
  place.bottom = Math.min(place.bottom, more.bottom);
}

/** How far apart the lines of a paragraph stand: the most frequent distance. */
function usualLeading(rows: readonly Line[][]): number {
  const counts = new Map<number, number>();
  for (const [i, row] of rows.entries()) {
    const gap = Math.round(2 * ((rows[i - 1]?.[0]?.y ?? 0) - (row[0]?.y ?? 0))) / 2;
    if (gap > 0 && gap < 3 * (row[0]?.size ?? 0)) counts.set(gap, (counts.get(gap) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? 0;
}

/** How many rows from here on are a table: three or more of as many cells, which begin at the same places. */
function tableAt(rows: readonly Line[][], from: number): number {
  const first = rows[from] ?? [];
  if (first.length < 2) return 0;
  let count = 1;
  for (const row of rows.slice(from + 1)) {
    const isAligned = row.length === first.length && row.every((cell, i) => overlaps(cell, first[i]));
    if (!isAligned) break;
    count += 1;
  }
  if (count < 3) return 0;
  const table = rows.slice(from, from + count);
  const lengthOf = (column: number) => table.reduce((sum, row) => sum + (row[column]?.words.length ?? 0), 0);
  // Lines of prose that stand beside each other are no cells.
  return first.every((_, column) => lengthOf(column) > 35 * count) ? 0 : count;
}

function overlaps(cell: Line, other: Line | undefined): boolean {
  return other !== undefined && cell.x < other.right + cell.size && other.x < cell.right + cell.size;
}

function asOneLine(row: readonly Line[]): Line | undefined {
  const [first, ...more] = row;
  if (!first) return undefined;
  const line = { ...first, runs: first.runs.map((run) => ({ ...run })) };
  for (const cell of more) {
    for (const [i, run] of cell.runs.entries()) addRun(line.runs, i === 0 ? ` ${run.text}` : run.text, run.url);
    line.right = Math.max(line.right, cell.right);
  }
  if (more.length > 0) line.words = wordsOf(line.runs);
  return line;
}

function goesOn(
  before: Line,
  line: Line,
  block: PdfBlock,
  column: { left: number; right: number; leading: number },
): boolean {
  const size = Math.max(before.size, line.size);
  if (Math.abs(line.size - block.size) > 0.08 * size) return false;
  const gap = before.y - line.y;
  if (gap < -0.1 * size || gap > 1.25 * Math.max(column.leading, 1.05 * size)) return false;
  const { words } = line;
  if (BULLET.test(words) || (block.kind === 'item' && NUMBER.test(words))) return false;
  const indent = line.x - before.x;
  // A first line stands further in than the line before it, which itself began where the column does.
  if (block.kind === 'text' && indent > 0.6 * size && before.x < column.left + 0.5 * size && indent < 6 * size) {
    return false;
  }
  // Behind a line that ends early, and ends a sentence, there begins something new.
  const isShort = before.right < column.right - 0.2 * (column.right - column.left);
  return !(isShort && /[.!?:]["”’)\]]?$/.test(before.words) && /^["“(]?\p{Lu}/u.test(words));
}

/** Appends a line to a paragraph; a hyphen at its end goes, unless the word is one that has it anyway. */
export function joinRuns(runs: Run[], more: readonly Run[], hyphenated: Hyphenated): void {
  const last = runs.at(-1);
  const next = more[0];
  if (!last || !next) return;
  const end = last.text.trimEnd();
  const start = next.text.trimStart();
  // The paragraph grows with every line, and only its last word is looked at.
  const isBroken = HYPHENS.includes(end.at(-1) ?? ' ');
  const [word = ''] = (isBroken && /[\p{L}\p{N}-]*\p{L}$/u.exec(end.slice(-WORD_MAX, -1))) || [];
  const [following = ''] = /^[\p{L}\p{N}]+/u.exec(start) ?? [];
  let separator = ' ';
  last.text = end;
  if (word !== '' && following !== '') {
    separator = '';
    const isCompound = hyphenated.has(`${word}-${following}`.toLowerCase()) || !/^\p{Ll}/u.test(following);
    if (!isCompound) last.text = end.slice(0, -1);
  }
  for (const [i, run] of more.entries()) addRun(runs, i === 0 ? separator + start : run.text, run.url);
}

function trimmed(runs: readonly Run[]): Run[] {
  return runs.map(({ text, url }) => ({ text: text.replace(/\s+/g, ' ').trim(), url }));
}

/** What stands behind the bullet, and whether the item is one of a numbered list. */
export function readItem(runs: readonly Run[]): { ordered: boolean; start: number; runs: Run[] } {
  const [first = { text: '', url: '' }, ...more] = runs;
  const number = /^\s*\(?(\d{1,3})[.)]\s+/.exec(first.text);
  const text = first.text.replace(BULLET, '').replace(number ? NUMBER : /^$/, '');
  return { ordered: number !== null, start: Number(number?.[1] ?? 1), runs: [{ ...first, text }, ...more] };
}
