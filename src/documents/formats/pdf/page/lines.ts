import { areIdeographs } from './characters.ts';
import type { Box } from './frames.ts';
import type { GridCell } from './grids.ts';
import type { TaggedElement } from './tags.ts';

/** A run of text as placed by the PDF; lengths in points, y grows upwards. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
  /** The address of its link; "" without one. */
  url: string;
  /** Whether it is written from right to left. */
  rtl: boolean;
  /** The element of a tagged PDF that it belongs to, or "artifact" for what is none of the document's text. */
  element?: TaggedElement | 'artifact' | undefined;
  /** The cell of a table with ruled lines that it stands in. */
  cell?: GridCell | undefined;
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
  /** Its number in the order in which the PDF writes the lines of its page. */
  order: number;
  element?: TaggedElement | undefined;
  /** Whether a tagged PDF says that it is none of the document's text. */
  isArtifact?: boolean;
  cell?: GridCell | undefined;
}

/** Gaps wider than this multiple of the font size separate columns and cells, not words. */
const CELL_GAP = 1.6;

/** Gaps wider than this are spaces between two runs, even if the PDF has none. */
const WORD_GAP = 0.13;

/** A line whose parts are known, in the order of the PDF. */
interface OpenLine extends Line {
  parts: PlacedText[];
  hasRtl: boolean;
}

/** Joins texts to lines, in the order of the PDF; lines of Arabic and Hebrew in their logical order. */
export function linesOf(texts: readonly PlacedText[]): Line[] {
  const lines: OpenLine[] = [];
  let line: OpenLine | undefined;
  for (const text of texts) {
    if (text.text.trim() === '') continue;
    const end = text.x + text.width;
    if (line && continues(line, text)) {
      line.parts.push(text);
      line.x = Math.min(line.x, text.x);
      line.right = Math.max(line.right, end);
      line.hasRtl ||= text.rtl;
      // A superscript is smaller than its line and an initial larger; the longer part determines the size.
      if (text.width > line.right - line.x - text.width) line.size = text.size;
      continue;
    }
    const { x, y, size } = text;
    line = { runs: [], words: '', x, right: end, y, size, order: lines.length, parts: [text], hasRtl: text.rtl };
    lines.push(line);
  }
  return lines.map(({ parts, hasRtl, ...each }) => {
    const runs = runsOf(hasRtl ? inLogicalOrder(parts) : parts, hasRtl);
    const [first] = parts;
    const line = { ...each, runs, words: wordsOf(runs), ...(first?.cell && { cell: first.cell }) };
    const element = first?.element;
    if (element === undefined) return line;
    return element === 'artifact' ? { ...line, isArtifact: true } : { ...line, element };
  });
}

function continues(line: OpenLine, text: PlacedText): boolean {
  const [first] = line.parts;
  if (first?.element !== text.element || first?.cell !== text.cell) return false;
  const height = Math.max(line.size, text.size);
  if (Math.abs(text.y - line.y) > 0.5 * height) return false;
  const isBeside = (gap: number) => gap > -0.5 * height && gap < CELL_GAP * height;
  if (isBeside(text.x - line.right)) return true;
  return (text.rtl || line.hasRtl) && isBeside(line.x - text.x - text.width);
}

/** The texts as runs, with spaces where there are gaps. */
function runsOf(parts: readonly PlacedText[], hasRtl: boolean): Run[] {
  const runs: Run[] = [];
  let [x, right] = [0, 0];
  for (const [i, part] of parts.entries()) {
    const end = part.x + part.width;
    const gap = hasRtl ? Math.max(part.x - right, x - end) : part.x - right;
    const last = runs.at(-1)?.text ?? '';
    const isApart = i > 0 && gap > WORD_GAP * Math.max(parts[i - 1]?.size ?? 0, part.size);
    const needsSpace =
      isApart && !/\s$/.test(last) && !/^[\s\p{M}]/u.test(part.text) && !areIdeographs(last, part.text);
    addRun(runs, needsSpace ? ` ${part.text}` : part.text, part.url);
    right = i > 0 && !hasRtl ? Math.max(right, end) : end;
    x = part.x;
  }
  return runs;
}

/**
 * Texts of a line that has some from right to left, in the order in which they are read: from the side at which most of
 * the line begins, and those in the other direction, and the numbers beside them, in theirs.
 */
function inLogicalOrder(parts: readonly PlacedText[]): PlacedText[] {
  const length = (rtl: boolean) => parts.reduce((sum, part) => sum + (part.rtl === rtl ? letters(part.text) : 0), 0);
  const base = length(true) >= length(false);
  const sorted = [...parts].sort((a, b) => (base ? b.x - a.x : a.x - b.x));
  const ordered: PlacedText[] = [];
  let other: PlacedText[] = [];
  for (const part of sorted) {
    if (part.rtl !== base) {
      other.push(part);
      continue;
    }
    ordered.push(...other.reverse(), part);
    other = [];
  }
  return [...ordered, ...other.reverse()];
}

function letters(text: string): number {
  return text.replace(/[^\p{L}]+/gu, '').length;
}

/** Gaps from this multiple of the font size on may separate the cells of a table. */
const NARROW_GAP = 0.45;
/** Cells of this many rows stand below each other, within this many points. */
const TABULAR_ROWS = 3;
const ALIGNED_POINTS = 2;
/** The length of the words of a cell; what is longer is prose in columns. */
const CELL_LENGTH = 30;

/**
 * Whether texts stand in rows of pieces, and pieces below each other, so that they may be a table whose lines should be
 * looked for. `hasCells`: cells that are far from each other are known; only what is in one of them is asked about. All
 * lines of a justified paragraph begin and end at the same places, which says nothing.
 */
export function mayBeTable(texts: readonly PlacedText[], hasCells: boolean): boolean {
  const aligned = new Map<string, number>();
  for (const pieces of piecesOf(texts, hasCells)) {
    if (Math.min(...pieces.map(({ length }) => length)) > CELL_LENGTH) continue;
    const places = [
      ...pieces.slice(1).map(({ x }) => `from ${Math.round(x / ALIGNED_POINTS)}`),
      ...pieces.slice(0, -1).map(({ right }) => `to ${Math.round(right / ALIGNED_POINTS)}`),
    ];
    for (const place of places) aligned.set(place, (aligned.get(place) ?? 0) + 1);
  }
  return [...aligned.values()].some((rows) => rows >= TABULAR_ROWS);
}

interface Piece {
  x: number;
  right: number;
  length: number;
}

/** The rows of texts as pieces that have gaps between them; with `hasCells` the cells of rows instead. */
function piecesOf(texts: readonly PlacedText[], hasCells: boolean): Piece[][] {
  const rows: Piece[][] = [];
  for (const row of Map.groupBy(texts, ({ y }) => Math.round(y)).values()) {
    let pieces: Piece[] = [];
    rows.push(pieces);
    for (const { x, width, size, text } of row.sort((a, b) => a.x - b.x)) {
      const last = pieces.at(-1);
      const gap = last ? x - last.right : 0;
      if (last && gap <= NARROW_GAP * size) {
        last.right = Math.max(last.right, x + width);
        last.length += text.length;
        continue;
      }
      if (hasCells && gap > CELL_GAP * size) rows.push((pieces = []));
      pieces.push({ x, right: x + width, length: text.length });
    }
  }
  return rows;
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

/** The rectangle around lines. */
export function boxOf(lines: readonly Line[]): Box {
  return {
    x: Math.min(...lines.map((line) => line.x)),
    right: Math.max(...lines.map((line) => line.right)),
    top: Math.max(...lines.map((line) => line.y + line.size)),
    bottom: Math.min(...lines.map((line) => line.y)),
  };
}
