import { asScript } from '../../html/scripts.ts';
import { continuedCells } from './cell-lines.ts';
import { areIdeographs } from './characters.ts';
import { type CodeLine, codeLineOf } from './code-lines.ts';
import type { Box } from './frames.ts';
import type { GridCell } from './grids.ts';
import type { PlacedText } from './placed-texts.ts';
import type { TaggedElement } from './tags.ts';

export interface Run {
  text: string;
  url: string;
}

/** A table column found by gaps: an object that identifies the table, and the index. */
interface GapColumn {
  table: object;
  index: number;
}

/** Adjacent words up to a gap that is wider than a space. */
export interface Line {
  runs: Run[];
  words: string;
  x: number;
  right: number;
  y: number;
  size: number;
  /** The position of the line in the order in which the PDF writes its page. */
  order: number;
  /** The order of the line that it continues, if both are in a cell of a table row. */
  above?: number | undefined;
  element?: TaggedElement | undefined;
  /** Whether a tagged PDF marks it as an artifact, which is not part of the text. */
  isArtifact?: boolean;
  cell?: GridCell | undefined;
  /** The line as code, if it may be code. */
  code?: CodeLine | undefined;
  /** The table column of the line, if it was found by gaps between columns. */
  column?: GapColumn | undefined;
  /** The texts of the line; only for left-to-right lines outside of tables. */
  parts?: readonly PlacedText[] | undefined;
}

/** Gaps wider than this multiple of the font size separate columns and cells, not words. */
export const CELL_GAP = 1.6;

/** Gaps wider than this, in font sizes, are spaces between two runs even if the PDF writes no space. */
const WORD_GAP = 0.13;

/** A line under construction, with parts in the order of the PDF. */
interface OpenLine extends Omit<Line, 'parts'> {
  parts: PlacedText[];
  hasRtl: boolean;
}

/** Joins texts into lines, in the order of the PDF. Lines of Arabic and Hebrew get their logical order. */
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
      // A superscript is smaller than its line and a drop cap larger; the longer part determines size and height.
      if (text.width > line.right - line.x - text.width) {
        line.size = text.size;
        line.y = text.y;
      }
      continue;
    }
    const { x, y, size } = text;
    line = { runs: [], words: '', x, right: end, y, size, order: lines.length, parts: [text], hasRtl: text.rtl };
    lines.push(line);
  }
  const inCells = continuedCells(lines);
  return lines.map(({ parts, hasRtl, ...each }, i) => {
    const runs = runsOf(hasRtl ? inLogicalOrder(parts) : withScripts(parts), hasRtl);
    const [first] = parts;
    const code = hasRtl || first?.cell ? undefined : codeLineOf(parts);
    const line = {
      ...each,
      runs,
      words: wordsOf(runs),
      ...(inCells.has(i) && { above: i - 1 }),
      ...(first?.cell && { cell: first.cell }),
      ...(code && { code, size: code.size }),
    };
    const element = first?.element;
    if (element === undefined) return hasRtl || first?.cell ? line : { ...line, parts };
    return element === 'artifact' ? { ...line, isArtifact: true } : { ...line, element };
  });
}

/**
 * Returns the properties of a line that consists of these texts, for splitting a line into cells. The texts must be
 * left-to-right and sorted by position.
 */
export function lineOf(parts: readonly PlacedText[]): Pick<Line, 'runs' | 'words' | 'x' | 'right' | 'size' | 'parts'> {
  const runs = trimRuns(runsOf(withScripts(parts), false));
  const size = parts.reduce((widest, part) => (part.width > widest.width ? part : widest), parts[0] as PlacedText).size;
  const right = Math.max(...parts.map(({ x, width }) => x + width));
  return { runs, words: wordsOf(runs), x: Math.min(...parts.map(({ x }) => x)), right, size, parts };
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

/** Bounds of the offset of superscripts and subscripts, in font sizes of their line. */
const RAISED = { from: 0.2, to: 0.7 };
const LOWERED = { from: 0.08, to: 0.35 };

/**
 * Converts small raised or lowered numbers to Unicode superscripts and subscripts: `10⁶` must never read 106. Letters
 * do not change, because the end of `1st` may be raised.
 */
function withScripts(parts: readonly PlacedText[]): readonly PlacedText[] {
  if (parts.length < 2) return parts;
  const base = parts.reduce((widest, part) => (part.width > widest.width ? part : widest));
  return parts.map((part, i) => {
    const text = part.text.trim();
    if (part.size > 0.85 * base.size || !/^(?:[+\-−]?\d{1,4}|[+\-−])$/.test(text)) return part;
    const isBetween = (height: number, { from, to }: typeof RAISED) =>
      height > from * base.size && height < to * base.size;
    const [raised, lowered] = [isBetween(part.y - base.y, RAISED), isBetween(base.y - part.y, LOWERED)];
    const before = parts[i - 1];
    const isBeside = before && !/\s$/.test(before.text) && part.x - before.x - before.width < 0.25 * base.size;
    // The number of a footnote is at the start of its line.
    if (!(raised || lowered) || !(isBeside || (raised && i === 0))) return part;
    return { ...part, text: part.text.replace(text, asScript(text, raised ? 'sup' : 'sub') ?? text) };
  });
}

/** Joins texts into runs and adds spaces at gaps. */
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
 * Sorts the texts of a line with right-to-left text into reading order: from the side of the line's main direction,
 * with sequences in the other direction, including adjacent numbers, reversed.
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

/** Appends a text, joined to the last run if both have the same address. */
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

/** Trims white space at the ends of a cell's runs; spaces between runs stay. */
export function trimRuns(runs: readonly Run[]): Run[] {
  return runs.map(({ text, url }, i) => {
    const words = text.replace(/\s+/g, ' ');
    const rest = i === 0 ? words.trimStart() : words;
    return { text: i === runs.length - 1 ? rest.trimEnd() : rest, url };
  });
}

/** Returns the bounding rectangle of lines. */
export function boxOf(lines: readonly Line[]): Box {
  return {
    x: Math.min(...lines.map((line) => line.x)),
    right: Math.max(...lines.map((line) => line.right)),
    top: Math.max(...lines.map((line) => line.y + line.size)),
    bottom: Math.min(...lines.map((line) => line.y)),
  };
}
