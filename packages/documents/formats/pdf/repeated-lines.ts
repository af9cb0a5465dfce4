import { countCharacters, type Loss } from '../losses.ts';
import { overlaps } from './aligned-tables.ts';
import { rowsDown } from './columns.ts';
import type { Line } from './page/lines.ts';
import { lossOn, type PdfPage } from './page/page.ts';

/** Headers and footers are among the outermost rows, within this share of the page height from the edge. */
const EDGE = 0.12;
const EDGE_ROWS = 3;

/** Lines repeat if they are at the same place, within this many points, on this many pages. */
const PLACE_POINTS = 4;
const REPEATED_PAGES = 3;
const NUMBERED_PAGES = 2;
/** The share of pages, from the first to the last with the line, that must have it: left and right pages may differ. */
const SHARE = 0.4;

/** A line is large if it exceeds the size of most text on the page by this factor. */
const LARGE = 1.2;

/** A row at the edge of a page, which may be a header or footer. */
interface EdgeRow {
  page: number;
  edge: 'header' | 'footer';
  /** The distance from the edge, in units of `PLACE_POINTS`. */
  place: number;
  lines: readonly Line[];
  isTable: boolean;
  /** The font size of most text on the page. */
  usualSize: number;
  /** The lines of the page outside of its edges, as returned by `looksOf`. */
  body: ReadonlySet<string>;
}

/**
 * Removes headers, footers and page numbers, and lists them as losses. A line is removed if it repeats at the same
 * place on many pages, or if a number in it counts the pages. Rows of tables stay. So do lines whose digits differ from
 * page to page in another way, and lines that occur elsewhere on their page, such as equal cells of a column.
 */
export function removeRepeatedLines(pages: readonly PdfPage[]): { pages: PdfPage[]; losses: Loss[] } {
  const rows = pages.flatMap((page, i) => edgeRows(page, i + 1));
  const pagesByKey = new Map<string, number[]>();
  for (const row of rows) {
    for (const key of new Set(keysOf(row))) {
      const numbers = pagesByKey.get(key) ?? [];
      pagesByKey.set(key, numbers);
      if (numbers.at(-1) !== row.page) numbers.push(row.page);
    }
  }
  const dropped = rows.flatMap((row) => {
    const lines = repeatedIn(row, pagesByKey);
    return lines.length > 0 ? [{ ...row, lines }] : [];
  });
  const kept = withoutRows(pages, dropped);
  // If most pages would become empty, the repeated lines are the text of the document.
  const isEmptied = (page: PdfPage, i: number) => page.lines.length === 0 && (pages[i]?.lines.length ?? 0) > 0;
  if (2 * kept.filter(isEmptied).length > pages.length) return { pages: [...pages], losses: [] };
  return { pages: kept, losses: lossesOf(dropped) };
}

function withoutRows(pages: readonly PdfPage[], dropped: readonly EdgeRow[]): PdfPage[] {
  const gone = new Set(dropped.flatMap(({ lines }) => lines));
  return pages.map((page) => ({ ...page, lines: page.lines.filter((line) => !gone.has(line)) }));
}

function edgeRows({ lines, box }: PdfPage, page: number): EdgeRow[] {
  const high = EDGE * (box.top - box.bottom);
  const near = lines.filter(({ y }) => y < box.bottom + 1.5 * high || y > box.top - 1.5 * high);
  const rows = rowsDown(near);
  const found: EdgeRow[] = [];
  const usualSize = sizeOfMost(lines);
  const body = new Set(lines.filter(({ y }) => y >= box.bottom + high && y <= box.top - high).map(looksOf));
  for (const [i, row] of rows.entries()) {
    const y = row[0]?.y ?? 0;
    const isTop = i < EDGE_ROWS && y > box.top - high;
    const isBottom = i >= rows.length - EDGE_ROWS && y < box.bottom + high;
    if (!isTop && !isBottom) continue;
    const edge = isTop ? 'header' : 'footer';
    const distance = isTop ? box.top - y : y - box.bottom;
    const inner = rows[isTop ? i + 1 : i - 1] ?? [];
    const outer = rows[isTop ? i - 1 : i + 1] ?? [];
    const isTable =
      row.some(({ cell, element }) => cell || element?.kind === 'cell') ||
      isAligned(row, inner) ||
      isAligned(row, outer);
    found.push({ page, edge, place: Math.round(distance / PLACE_POINTS), lines: row, isTable, usualSize, body });
  }
  return found;
}

/** Returns a key of the position, size and words of a line; equal cells of a column share it. */
function looksOf({ x, size, words }: Line): string {
  return `${Math.round(x)} ${Math.round(size)} ${words}`;
}

function sizeOfMost(lines: readonly Line[]): number {
  const letters = new Map<number, number>();
  for (const { size, words } of lines) letters.set(size, (letters.get(size) ?? 0) + words.length);
  return [...letters].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

/** Whether two rows have cells at the same places, as rows of a table do. */
function isAligned(row: readonly Line[], next: readonly Line[]): boolean {
  const apart = Math.abs((row[0]?.y ?? 0) - (next[0]?.y ?? 0));
  if (row.length < 2 || row.length !== next.length || apart > 3 * (row[0]?.size ?? 0)) return false;
  return row.every((cell, i) => overlaps(cell, next[i]));
}

/**
 * Returns keys that a row shares with its repetitions on other pages: the same words at the same place, or a number that
 * counts the pages.
 */
function keysOf(row: EdgeRow): string[] {
  return row.lines.flatMap((line) => [...wordKeys(row, line), ...numberKeys(row, line)]);
}

function wordKeys({ edge, place, isTable, body }: EdgeRow, line: Line): string[] {
  const { words } = line;
  return isTable || !/\p{L}/u.test(words) || body.has(looksOf(line)) ? [] : [`words ${edge} ${place} ${words}`];
}

/**
 * Returns keys for a number at the start or end of a line, minus the page number: equal on all pages if it counts them.
 */
function numberKeys({ edge, place, page, isTable, usualSize }: EdgeRow, { words, size }: Line): string[] {
  if (isTable) return [];
  const bare = pageNumber(words);
  if (bare !== undefined) {
    const count = `${bare.roman} ${bare.value - page}`;
    return [`bare ${edge} ${place} ${count}`, `anywhere ${count}`];
  }
  // A large "Lesson 3" is the title of its page.
  if (size > LARGE * usualSize) return [];
  return [/^\d{1,4}(?=\s)/, /(?<=\s)\d{1,4}$/, /(?<=\s)\d{1,4}(?=\s*(?:of|\/|von|de|sur)\s*\d{1,4}$)/].flatMap(
    (pattern) => {
      const number = pattern.exec(words);
      if (!number) return [];
      const rest = words.replace(pattern, '#');
      return [`with ${edge} ${place} ${rest} ${Number(number[0]) - page}`];
    },
  );
}

/** Returns the number of a line that consists of a page number, optionally between dashes. */
function pageNumber(words: string): { value: number; roman: boolean } | undefined {
  const [, text = ''] = /^[\s–—\-|·[(]*(\d{1,4}|[ivxlc]{1,8})[\s–—\-|·\])]*$/i.exec(words) ?? [];
  if (/^\d/.test(text)) return { value: Number(text), roman: false };
  const value = romanNumber(text.toLowerCase());
  return value > 0 ? { value, roman: true } : undefined;
}

/** Returns the value of a Roman numeral; 0 for other text. */
function romanNumber(text: string): number {
  if (!/^(?:c{0,3})(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})$/.test(text)) return 0;
  const values: Record<string, number> = { i: 1, v: 5, x: 10, l: 50, c: 100 };
  const digits = [...text].map((letter) => values[letter] ?? 0);
  return digits.reduce((sum, digit, i) => sum + (digit < (digits[i + 1] ?? 0) ? -digit : digit), 0);
}

/** Returns the repeated lines of a row, or the whole row if it has a page number. */
function repeatedIn(row: EdgeRow, pagesByKey: ReadonlyMap<string, readonly number[]>): readonly Line[] {
  const isRepeated = (key: string, least: number) => {
    // A place on the border of two steps counts with either.
    const keys = key.startsWith('anywhere')
      ? [key]
      : [-1, 0, 1].map((step) => key.replace(/(?<=^\w+ \w+ )\d+/, String(row.place + step)));
    const around = keys.map((each) => pagesByKey.get(each));
    const numbers = [...new Set(around.flatMap((each) => each ?? []))].sort((a, b) => a - b);
    return numbers.length >= least && isDense(numbers, row.page, least);
  };
  const isAlone = row.lines.length === 1;
  const isNumber = (line: Line) =>
    numberKeys(row, line).some((key) => {
      // The first page of a chapter may have its number at another place.
      if (key.startsWith('anywhere')) return isAlone && isRepeated(key, REPEATED_PAGES);
      return isRepeated(key, isAlone && key.startsWith('bare') ? NUMBERED_PAGES : REPEATED_PAGES);
    });
  const numbers = row.lines.filter(isNumber);
  if (numbers.some(({ words }) => pageNumber(words))) return row.lines;
  return row.lines.filter(
    (line) =>
      // A tagged PDF marks artifacts itself.
      line.isArtifact || numbers.includes(line) || wordKeys(row, line).some((key) => isRepeated(key, REPEATED_PAGES)),
  );
}

/**
 * Whether the nearest pages with the line, `least` on each side, are close together: at least SHARE of the pages that
 * they span.
 */
function isDense(numbers: readonly number[], page: number, least: number): boolean {
  const at = numbers.indexOf(page);
  const near = numbers.slice(Math.max(0, at - least), at + least + 1);
  const [first = 0, last = 0] = [near[0], near.at(-1)];
  return near.length >= least && near.length >= SHARE * (last - first + 1);
}

/** Returns one loss for each repeated text, ignoring digits. */
function lossesOf(dropped: readonly EdgeRow[]): Loss[] {
  const byText = new Map<string, Loss>();
  for (const { page, edge, lines } of dropped) {
    for (const { words } of lines) {
      const key = `${edge} ${pageNumber(words) ? '#' : words.replace(/\d+/g, '#')}`;
      const loss = byText.get(key) ?? lossOn(page, { kind: 'repeated_line', place: edge, count: 0, excerpt: words });
      byText.set(key, loss);
      loss.last_page = page;
      loss.count += 1;
      loss.characters += countCharacters(words);
    }
  }
  return [...byText.values()];
}
