import { countCharacters, type Loss } from '../losses.ts';
import { overlaps } from './aligned-tables.ts';
import { rowsDown } from './columns.ts';
import type { Line } from './page/lines.ts';
import { lossOn, type PdfPage } from './page/page.ts';

/** Headers and footers are within this share of the page's height from its edges, among the outermost rows. */
const EDGE = 0.12;
const EDGE_ROWS = 3;

/** Lines repeat if they stand at the same place, within this many points, on this many pages. */
const PLACE_POINTS = 4;
const REPEATED_PAGES = 3;
const NUMBERED_PAGES = 2;
/** Of the pages from the first to the last that has the line, this share has it: left pages may differ from right. */
const SHARE = 0.4;

/** Larger than most of the page's text. */
const LARGE = 1.2;

/** A row at the edge of a page: what may be a header or footer. */
interface EdgeRow {
  page: number;
  edge: 'header' | 'footer';
  /** The distance from the edge, in steps of `PLACE_POINTS`. */
  place: number;
  lines: readonly Line[];
  /** Whether it is a row of a table. */
  isTable: boolean;
  /** The size of most of the page's text. */
  usualSize: number;
  /** The lines of the page that are not at its edges, as `looksOf` has them. */
  body: ReadonlySet<string>;
}

/**
 * Removes headers, footers and page numbers, and says so. A line is one if it stands alone at the same place on many
 * pages, or if a number in it counts the pages. A row of a table is none, and neither is a line whose digits differ from
 * page to page in another way, or that its page also has elsewhere, as the cells of a column that say the same.
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
  // What is on every page of a document that has nothing else is its text.
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

/** What lines of a column that say the same have in common. */
function looksOf({ x, size, words }: Line): string {
  return `${Math.round(x)} ${Math.round(size)} ${words}`;
}

function sizeOfMost(lines: readonly Line[]): number {
  const letters = new Map<number, number>();
  for (const { size, words } of lines) letters.set(size, (letters.get(size) ?? 0) + words.length);
  return [...letters].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

/** Whether two rows have the same cells, as rows of a table do. */
function isAligned(row: readonly Line[], next: readonly Line[]): boolean {
  const apart = Math.abs((row[0]?.y ?? 0) - (next[0]?.y ?? 0));
  if (row.length < 2 || row.length !== next.length || apart > 3 * (row[0]?.size ?? 0)) return false;
  return row.every((cell, i) => overlaps(cell, next[i]));
}

/** What the row would have in common with those of other pages if it was a header: the same words, a number that counts. */
function keysOf(row: EdgeRow): string[] {
  return row.lines.flatMap((line) => [...wordKeys(row, line), ...numberKeys(row, line)]);
}

function wordKeys({ edge, place, isTable, body }: EdgeRow, line: Line): string[] {
  const { words } = line;
  return isTable || !/\p{L}/u.test(words) || body.has(looksOf(line)) ? [] : [`words ${edge} ${place} ${words}`];
}

/** A number at the end or beginning of a line, less the number of the page: equal on all pages if it counts them. */
function numberKeys({ edge, place, page, isTable, usualSize }: EdgeRow, { words, size }: Line): string[] {
  if (isTable) return [];
  const bare = pageNumber(words);
  if (bare !== undefined) {
    const count = `${bare.roman} ${bare.value - page}`;
    return [`bare ${edge} ${place} ${count}`, `anywhere ${count}`];
  }
  // "Lesson 3" in large type is the title of its page.
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

/** The number of a line that is nothing else, perhaps between dashes. */
function pageNumber(words: string): { value: number; roman: boolean } | undefined {
  const [, text = ''] = /^[\s–—\-|·[(]*(\d{1,4}|[ivxlc]{1,8})[\s–—\-|·\])]*$/i.exec(words) ?? [];
  if (/^\d/.test(text)) return { value: Number(text), roman: false };
  const value = romanNumber(text.toLowerCase());
  return value > 0 ? { value, roman: true } : undefined;
}

/** 0 if it is none. */
function romanNumber(text: string): number {
  if (!/^(?:c{0,3})(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})$/.test(text)) return 0;
  const values: Record<string, number> = { i: 1, v: 5, x: 10, l: 50, c: 100 };
  const digits = [...text].map((letter) => values[letter] ?? 0);
  return digits.reduce((sum, digit, i) => sum + (digit < (digits[i + 1] ?? 0) ? -digit : digit), 0);
}

/** The lines of the row that are repeated; all of them beside a page number. */
function repeatedIn(row: EdgeRow, pagesByKey: ReadonlyMap<string, readonly number[]>): readonly Line[] {
  const isRepeated = (key: string, least: number) => {
    // A place on the border of two steps is counted with either.
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
      // The first page of a chapter has its number elsewhere than the others.
      if (key.startsWith('anywhere')) return isAlone && isRepeated(key, REPEATED_PAGES);
      return isRepeated(key, isAlone && key.startsWith('bare') ? NUMBERED_PAGES : REPEATED_PAGES);
    });
  const numbers = row.lines.filter(isNumber);
  if (numbers.some(({ words }) => pageNumber(words))) return row.lines;
  return row.lines.filter(
    (line) =>
      // A tagged PDF says itself what is none of its text.
      line.isArtifact || numbers.includes(line) || wordKeys(row, line).some((key) => isRepeated(key, REPEATED_PAGES)),
  );
}

/** Whether the pages around this one have it without long gaps. */
function isDense(numbers: readonly number[], page: number, least: number): boolean {
  const at = numbers.indexOf(page);
  const near = numbers.slice(Math.max(0, at - least), at + least + 1);
  const [first = 0, last = 0] = [near[0], near.at(-1)];
  return near.length >= least && near.length >= SHARE * (last - first + 1);
}

/** One loss for each text that repeats, numbers aside. */
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
