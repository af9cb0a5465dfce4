/** A run of text as placed by the PDF; lengths in points, y grows upwards. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  /** The address of its link; "" without one. */
  url: string;
}

export interface Run {
  text: string;
  url: string;
}

/** Words beside each other, up to a gap that is wider than a space. */
export interface Line {
  runs: Run[];
  /** The text of the runs. */
  words: string;
  x: number;
  right: number;
  y: number;
  size: number;
}

/** Gaps wider than this multiple of the font size separate columns and cells, not words. */
const CELL_GAP = 1.6;

/** Gaps wider than this are spaces between two runs, even if the PDF has none. */
const WORD_GAP = 0.13;

/** The minimum number of long lines in a column. */
const PROSE_LINES = 5;

/** Joins runs to lines, in the order of the PDF. */
export function linesOf(texts: readonly PlacedText[]): Line[] {
  const lines: Line[] = [];
  let line: Line | undefined;
  for (const text of texts) {
    if (text.text.trim() === '') continue;
    if (line && continues(line, text)) {
      const gap = text.x - line.right;
      const isApart = gap > WORD_GAP * Math.max(line.size, text.size);
      const last = line.runs.at(-1);
      const needsSpace = isApart && !/\s$/.test(last?.text ?? '') && !/^\s/.test(text.text);
      addRun(line.runs, needsSpace ? ` ${text.text}` : text.text, text.url);
      line.right = Math.max(line.right, text.x + text.width);
      // A superscript is smaller than its line and an initial larger; the longer part determines the size.
      if (text.width > line.right - line.x - text.width) line.size = text.size;
      continue;
    }
    line = {
      runs: [{ text: text.text, url: text.url }],
      words: '',
      x: text.x,
      right: text.x + text.width,
      y: text.y,
      size: text.size,
    };
    lines.push(line);
  }
  for (const each of lines) each.words = wordsOf(each.runs);
  return lines;
}

function continues(line: Line, text: PlacedText): boolean {
  const height = Math.max(line.size, text.size);
  if (Math.abs(text.y - line.y) > 0.5 * height) return false;
  const gap = text.x - line.right;
  return gap > -0.5 * height && gap < CELL_GAP * height;
}

/** Appends to the runs of a text; neighbours with the same address are joined. */
export function addRun(runs: Run[], text: string, url: string): void {
  const last = runs.at(-1);
  if (last && last.url === url) last.text += text;
  else runs.push({ text, url });
}

export function wordsOf(runs: readonly Run[]): string {
  return runs
    .map(({ text }) => text)
    .join('')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * The lines in reading order: columns of prose from left to right, between lines that span them. Short pieces beside
 * each other are cells of a table and stay in their rows.
 */
export function inReadingOrder(lines: readonly Line[]): Line[][] {
  const gutter = findGutter(lines);
  if (gutter === undefined) return [rowsDown(lines).flat()];
  const columns: Line[][] = [];
  let band: Line[] = [];
  let spanning: Line[] = [];
  const end = () => {
    const left = band.filter((line) => line.right <= gutter + 1);
    const right = band.filter((line) => line.right > gutter + 1);
    if (band.length > 0) columns.push(...inReadingOrder(left), ...inReadingOrder(right));
    if (spanning.length > 0) columns.push(spanning);
    band = [];
    spanning = [];
  };
  for (const row of rowsDown(lines)) {
    const spans = row.some((line) => line.x < gutter && line.right > gutter + 1);
    if (spans ? band.length > 0 : spanning.length > 0) end();
    (spans ? spanning : band).push(...row);
  }
  end();
  return columns.filter((column) => column.length > 0);
}

/** From top to bottom, and from left to right in a row. */
function rowsDown(lines: readonly Line[]): Line[][] {
  const rows = rowsOf([...lines].sort((a, b) => b.y - a.y));
  for (const row of rows) row.sort((a, b) => a.x - b.x);
  return rows;
}

/** Consecutive lines at about the same height. */
export function rowsOf(lines: readonly Line[]): Line[][] {
  const rows: Line[][] = [];
  for (const line of lines) {
    const first = rows.at(-1)?.[0];
    if (first && Math.abs(first.y - line.y) <= 0.4 * Math.max(first.size, line.size)) rows.at(-1)?.push(line);
    else rows.push([line]);
  }
  return rows;
}

/** The left edge of the second column of prose; undefined if there are no columns. */
function findGutter(lines: readonly Line[]): number | undefined {
  if (lines.length < 8) return undefined;
  const left = Math.min(...lines.map((line) => line.x));
  const right = Math.max(...lines.map((line) => line.right));
  const width = right - left;
  if (width <= 0) return undefined;
  let best: { at: number; prose: number } | undefined;
  for (const edge of new Set(lines.map((line) => Math.round(line.x)))) {
    const at = edge - 3;
    if (at < left + 0.2 * width || at > left + 0.8 * width) continue;
    const before = lines.filter((line) => line.right <= at + 1);
    const behind = lines.filter((line) => line.x >= at && line.x < at + 6);
    const prose = Math.min(proseOf(before, at - left), proseOf(behind, right - at));
    const crossing = lines.filter((line) => line.x < at && line.right > at + 1).length;
    if (prose >= PROSE_LINES && crossing < 4 * prose && prose > (best?.prose ?? 0)) best = { at, prose };
  }
  return best?.at;
}

/** The number of lines that are about as wide as the column. */
function proseOf(column: readonly Line[], width: number): number {
  return column.filter((line) => line.right - line.x > 0.6 * width && line.words.length > 15).length;
}
