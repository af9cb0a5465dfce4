import { rowsOf } from './columns.ts';
import { type Bookmark, titleKey } from './outline.ts';
import { areIdeographs } from './page/characters.ts';
import type { Box } from './page/frames.ts';
import { addRun, boxOf, type Line, type Run, wordsOf } from './page/lines.ts';

/** A block of a document, before font sizes are mapped to heading levels. */
export interface PdfBlock {
  kind: 'text' | 'item' | 'table' | 'picture';
  /** Empty for a table; for a picture a run without words, with its address. */
  runs: Run[];
  /** For a table; else empty. */
  rows: Run[][][];
  size: number;
  /** Whether the last line reaches the end of the column, so that the block may continue elsewhere. */
  isFull: boolean;
  /** The level of a heading that is known as one; 0 for what is known as none; undefined if its size decides. */
  level?: number;
  /** For an item: how far it begins from the left edge of its column, in points. */
  indent?: number;
  /** For an item of a tagged PDF: how many lists are around its own. */
  depth?: number;
  /** For an item of a tagged PDF: whether it has a mark or number of its own. */
  isMarked?: boolean;
  /** The numbers of the targets of links that it is. */
  targets?: number[];
  /** For a table: where its rows are; else undefined. */
  row_places?: Place[];
  /** For a table of a tagged PDF: its number on the page. */
  table?: number;
  /** For a table of a tagged PDF: how many rows of headers it begins with. */
  head_rows?: number;
  /** Where it is on the pages, in reading order: several places if it continues in another column. */
  places: Place[];
}

/** A rectangle on a page (counted from 1), in the frame of most of its text. */
export interface Place extends Box {
  page: number;
}

/** Words that the document writes with a hyphen elsewhere, in lower case: at the end of a line they keep it. */
export type Hyphenated = ReadonlySet<string>;

const BULLET = /^\s*[•‣◦▪●○■–*·-]\s+(?=\S)/;
const NUMBER = /^\s*\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s+(?=\S)/;

/** The longest heading, in lines. */
const HEADING_ROWS = 4;

/** The maximum length of a word that is broken at the end of a line. */
const WORD_MAX = 100;
const HYPHENS = '-\u00ad\u2010';

/** The blocks of one column: paragraphs, list items, tables. */
export function blocksOfColumn(
  lines: readonly Line[],
  page: number,
  hyphenated: Hyphenated,
  bookmarks: readonly Bookmark[] = [],
): PdfBlock[] {
  const rows = rowsOf(lines);
  const left = Math.min(...lines.map((line) => line.x));
  const right = Math.max(...lines.map((line) => line.right));
  const leading = typicalLeading(rows);
  const blocks: PdfBlock[] = [];
  let before: Line | undefined;
  for (let i = 0; i < rows.length; i += 1) {
    const heading = headingAt(rows, i, bookmarks);
    if (heading) {
      const own = rows.slice(i, i + heading.rows).map((row) => asOneLine(row) as Line);
      const runs = own.flatMap((each, k) =>
        each.runs.map((run, n) => (k > 0 && n === 0 ? { ...run, text: ` ${run.text}` } : { ...run })),
      );
      const { level } = heading;
      blocks.push({
        kind: 'text',
        runs,
        rows: [],
        size: own[0]?.size ?? 0,
        isFull: false,
        level,
        places: [placeOf(own, page)],
      });
      i += heading.rows - 1;
      before = undefined;
      continue;
    }
    const table = tableAt(rows, i);
    if (table > 0) {
      const cells = rows.slice(i, i + table).map((row) => row.map(({ runs }) => trimmed(runs)));
      const size = rows[i]?.[0]?.size ?? 0;
      const places = [placeOf(rows.slice(i, i + table).flat(), page)];
      const row_places = rows.slice(i, i + table).map((row) => placeOf(row, page));
      blocks.push({ kind: 'table', runs: [], rows: cells, size, isFull: false, places, row_places });
      i += table - 1;
      before = undefined;
      continue;
    }
    const line = asOneLine(rows[i] ?? []);
    if (!line) continue;
    const last = blocks.at(-1);
    const isFull = line.right > right - 0.12 * (right - left);
    if (
      before &&
      last &&
      last.kind !== 'table' &&
      last.level === undefined &&
      continuesBlock(before, line, last, { left, right, leading })
    ) {
      joinRuns(last.runs, line.runs, hyphenated);
      last.isFull = isFull;
      widen(last.places[0], placeOf([line], page));
    } else {
      const { words } = line;
      const kind = BULLET.test(words) || (NUMBER.test(words) && line.x > left - 1) ? 'item' : 'text';
      const runs = line.runs.map((run) => ({ ...run }));
      const places = [placeOf([line], page)];
      blocks.push({ kind, runs, rows: [], size: line.size, isFull, places, indent: line.x - left });
    }
    before = line;
  }
  return blocks;
}

/** The heading that the rows from here on are, by a bookmark of the page with its words. */
function headingAt(
  rows: readonly Line[][],
  from: number,
  bookmarks: readonly Bookmark[],
): { rows: number; level: number } | undefined {
  if (bookmarks.length === 0) return undefined;
  let words = '';
  for (let count = 1; count <= HEADING_ROWS && from + count <= rows.length; count += 1) {
    words += ` ${asOneLine(rows[from + count - 1] ?? [])?.words ?? ''}`;
    const key = titleKey(words);
    const bookmark = bookmarks.find((each) => each.key === key);
    if (bookmark) return { rows: count, level: bookmark.level };
    if (!bookmarks.some((each) => each.key.startsWith(key))) return undefined;
  }
  return undefined;
}

function placeOf(lines: readonly Line[], page: number): Place {
  return { page, ...boxOf(lines) };
}

function widen(place: Place | undefined, more: Place): void {
  if (!place) return;
  place.x = Math.min(place.x, more.x);
  place.right = Math.max(place.right, more.right);
  place.top = Math.max(place.top, more.top);
  place.bottom = Math.min(place.bottom, more.bottom);
}

/** The most frequent distance between lines of a paragraph. */
function typicalLeading(rows: readonly Line[][]): number {
  const counts = new Map<number, number>();
  for (const [i, row] of rows.entries()) {
    const gap = Math.round(2 * ((rows[i - 1]?.[0]?.y ?? 0) - (row[0]?.y ?? 0))) / 2;
    if (gap > 0 && gap < 3 * (row[0]?.size ?? 0)) counts.set(gap, (counts.get(gap) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? 0;
}

/**
 * The number of rows from here on that form a table: three or more with the same number of cells at the same positions.
 */
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
  // Lines of prose beside each other are not cells.
  return first.every((_, column) => lengthOf(column) > 35 * count) ? 0 : count;
}

/** Whether one cell is above the other. */
export function overlaps(cell: Line, other: Line | undefined): boolean {
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

function continuesBlock(
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
  // The first line of a paragraph is indented, and the line before it is not; the entry of a list of references hangs.
  const isEntry = /^\s*\[[^\]]{1,12}\]\s/.test(block.runs[0]?.text ?? '');
  if (
    block.kind === 'text' &&
    !isEntry &&
    indent > 0.6 * size &&
    before.x < column.left + 0.5 * size &&
    indent < 6 * size
  ) {
    return false;
  }
  // A short line that ends a sentence ends its paragraph.
  const isShort = before.right < column.right - 0.2 * (column.right - column.left);
  return !(isShort && /[.!?:]["”’)\]]?$/.test(before.words) && /^["“(]?\p{Lu}/u.test(words));
}

/** Appends a line to a paragraph and removes a hyphen at its end, unless the word is hyphenated anyway. */
export function joinRuns(runs: Run[], more: readonly Run[], hyphenated: Hyphenated): void {
  const last = runs.at(-1);
  const next = more[0];
  if (!last || !next) return;
  const end = last.text.trimEnd();
  const start = next.text.trimStart();
  // Only the last word is examined: the paragraph grows with every line.
  const isBroken = HYPHENS.includes(end.at(-1) ?? ' ');
  const [word = ''] = (isBroken && /[\p{L}\p{N}-]*\p{L}$/u.exec(end.slice(-WORD_MAX, -1))) || [];
  const [following = ''] = /^[\p{L}\p{N}]+/u.exec(start) ?? [];
  let separator = areIdeographs(end, start) ? '' : ' ';
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

/** The text after the bullet or number, which may be a link, and whether the list is numbered. */
export function readItem(runs: readonly Run[]): { ordered: boolean; start: number; runs: Run[] } {
  // A mark is short; the rest of the text is not looked at.
  const beginning = runs
    .slice(0, 3)
    .map(({ text }) => text.slice(0, 20))
    .join('');
  const number = /^\s*\(?(\d{1,3})[.)]\s+/.exec(beginning);
  const [mark = ''] = number ?? BULLET.exec(beginning) ?? [];
  let left = mark.length;
  const rest = runs.map((run) => {
    const text = run.text.slice(left);
    left = Math.max(0, left - run.text.length);
    return { ...run, text };
  });
  return {
    ordered: number !== null,
    start: Number(number?.[1] ?? 1),
    runs: rest.filter(({ text }, i) => text !== '' || i === rest.length - 1),
  };
}
