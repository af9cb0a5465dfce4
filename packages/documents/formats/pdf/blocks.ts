import { type AlignedTable, tableAt } from './aligned-tables.ts';
import { codeAt, codeBlock } from './code-blocks.ts';
import { isIndex, rowsOf } from './columns.ts';
import { dividedRows } from './divided-rows.ts';
import { type Hyphenated, joinRuns } from './join-runs.ts';
import { BULLET, isMark, NUMBER } from './marks/item-marks.ts';
import { type Bookmark, titleKey } from './outline.ts';
import { addRun, boxOf, type Line, wordsOf } from './page/lines.ts';
import type { PdfBlock, Place } from './pdf-block.ts';

const RAISED = /^\s*(?:[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{1,3}|[†‡]{1,2})\s?[\p{L}"“(]/u;

/** The limit of lines in a heading. */
const HEADING_ROWS = 4;

/** The limit of rows of lines in the head of a table. */
const HEAD_ROWS = 9;

/** The largest distance from the mark of an item to its text, in font sizes. */
const MARK_GAP = 5;

/**
 * Splits one column into blocks: paragraphs, list items, tables. `hasNearCells`: cells of tables may be as close as
 * words.
 */
export function blocksOfColumn(
  lines: readonly Line[],
  page: number,
  hyphenated: Hyphenated,
  bookmarks: readonly Bookmark[] = [],
  hasNearCells = true,
): PdfBlock[] {
  const joined = rowsOf(lines).map(joinMark);
  const rows = hasNearCells ? dividedRows(joined) : joined;
  const left = Math.min(...lines.map((line) => line.x));
  const right = Math.max(...lines.map((line) => line.right));
  const leading = typicalLeading(rows);
  const usual = sizeOfProse(lines);
  const column = { left, right, leading, isIndex: isIndex(lines) };
  const around = { leading, usual, full: right - 0.12 * (right - left) };
  const tables = tablesIn(
    rows,
    (i) => headingAt(rows, i, bookmarks)?.rows ?? codeAt(rows, i, around),
    page,
    hyphenated,
  );
  const blocks: PdfBlock[] = [];
  let before: Line | undefined;
  for (let i = 0; i < rows.length; i += 1) {
    const heading = headingAt(rows, i, bookmarks);
    if (heading) {
      const own = rows.slice(i, i + heading.rows).map((row) => asOneLine(row) as Line);
      const runs = (own[0]?.runs ?? []).map((run) => ({ ...run }));
      for (const each of own.slice(1)) joinRuns(runs, each.runs, hyphenated);
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
    const code = codeAt(rows, i, around);
    if (code > 0) {
      blocks.push(codeBlock(rows.slice(i, i + code).flat(), page));
      i += code - 1;
      before = undefined;
      continue;
    }
    const table = tables.get(i);
    if (table) {
      blocks.push(table.block);
      i += table.count - 1;
      before = undefined;
      continue;
    }
    const line = asOneLine(rows[i] ?? []);
    if (!line) continue;
    const last = blocks.at(-1);
    const isFull = !column.isIndex && line.right > right - 0.12 * (right - left);
    if (
      before &&
      last &&
      last.kind !== 'table' &&
      last.kind !== 'code' &&
      last.level === undefined &&
      continuesBlock(before, line, last, column)
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

/**
 * Maps the first row of each table to the table. `others`: the number of rows from a row on that are another kind of
 * block.
 */
function tablesIn(
  rows: readonly Line[][],
  others: (from: number) => number,
  page: number,
  hyphenated: Hyphenated,
): ReadonlyMap<number, AlignedTable> {
  const tables = new Map<number, AlignedTable>();
  let free = 0;
  // An aligned group of rows may also be the head of a table with known columns below.
  const tableBelow = (i: number) => {
    const at = i + rows.slice(i, i + HEAD_ROWS + 1).findIndex((row) => row[0]?.column !== undefined);
    const table = at > i ? tableAt(rows, at, page, hyphenated, i) : undefined;
    return table?.from === i ? table : undefined;
  };
  for (let i = 0; i < rows.length; i += 1) {
    const other = others(i);
    const table = other > 0 ? undefined : (tableBelow(i) ?? tableAt(rows, i, page, hyphenated, free));
    if (table) tables.set(table.from, table);
    if (!table && other === 0) continue;
    free = table ? table.from + table.count : i + other;
    i = free - 1;
  }
  return tables;
}

/** Joins the mark of an item with its text: some programs set them as far apart as cells. */
function joinMark(row: Line[]): Line[] {
  const [mark, text, ...more] = row;
  if (!mark || !text || mark.code || !isMark(mark.words) || text.x - mark.right > MARK_GAP * text.size) return row;
  // A bullet outside of a table may be followed by cells.
  if (more.length > 0 && !/^[•‣◦▪●○■]$/.test(mark.words)) return row;
  const joined = asOneLine([mark, text]) as Line;
  return [{ ...joined, size: text.size, y: text.y, code: undefined, parts: undefined }, ...more];
}

/** Returns the heading that starts at a row if a bookmark of the page has the same words. */
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

/** Returns the most frequent distance between lines of a paragraph. */
function typicalLeading(rows: readonly Line[][]): number {
  const counts = new Map<number, number>();
  for (const [i, row] of rows.entries()) {
    const gap = Math.round(2 * ((rows[i - 1]?.[0]?.y ?? 0) - (row[0]?.y ?? 0))) / 2;
    if (gap > 0 && gap < 3 * (row[0]?.size ?? 0)) counts.set(gap, (counts.get(gap) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? 0;
}

/** Returns the font size of most lines that are not code; 0 without such lines. */
function sizeOfProse(lines: readonly Line[]): number {
  const letters = new Map<number, number>();
  for (const { code, size, words } of lines) {
    if (!code) letters.set(size, (letters.get(size) ?? 0) + words.length);
  }
  return [...letters].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
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
  column: { left: number; right: number; leading: number; isIndex: boolean },
): boolean {
  const size = Math.max(before.size, line.size);
  if (Math.abs(line.size - block.size) > 0.08 * size) return false;
  const gap = before.y - line.y;
  if (gap < -0.1 * size || gap > 1.25 * Math.max(column.leading, 1.05 * size)) return false;
  const { words } = line;
  // A footnote begins with its raised number.
  if (RAISED.test(words)) return false;
  if (BULLET.test(words) || (block.kind === 'item' && NUMBER.test(words))) return false;
  const indent = line.x - before.x;
  // A first-line indent starts a paragraph if the line before is not indented. An entry in a list of references has a
  // hanging indent instead.
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
  // An entry of an index ends with a page number.
  if (column.isIndex && /\d$/.test(before.words)) return false;
  // A short line that ends a sentence ends its paragraph.
  const isShort = before.right < column.right - 0.2 * (column.right - column.left);
  return !(isShort && /[.!?:]["”’)\]]?$/.test(before.words) && /^["“(]?\p{Lu}/u.test(words));
}
