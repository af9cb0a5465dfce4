import { type CodeLine, onGrid } from './page/code-lines.ts';
import { addRun, type Line, wordsOf } from './page/lines.ts';
import type { PdfPage } from './page/page.ts';

/**
 * Letters that are narrow in proportional fonts, and the number of other letters needed to judge a font by its widths.
 */
const NARROW = /[fijlrtI]/;
const OTHER_LETTERS = 3;

/** If a larger share of a document is monospaced, such as in a typewritten text, its fonts do not indicate code. */
const MOST = 0.8;

/** Japanese and Chinese fonts also use letters of one width in prose. */
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const IDEOGRAPHS_MAX = 0.1;

/** The tolerance of cells relative to the character grid of a code line, in characters. */
const OFF_GRID = 0.15;

/**
 * Drops `code` from lines whose font is not a code font of the document, and joins lines of code that wide gaps had
 * split.
 */
export function withCode(pages: readonly PdfPage[]): PdfPage[] {
  const fonts = fontsOfCode(pages);
  return pages.map((page) => {
    if (!page.lines.some(({ code }) => code)) return page;
    const lines = page.lines.map((line) =>
      line.code && !fonts.has(line.code.font) ? { ...line, code: undefined } : line,
    );
    return { ...page, lines: joinedCells(lines) };
  });
}

interface FixedFont {
  words: string[];
  /** The width of a character, in hundredths of the font size. */
  width: number;
}

function fontsOfCode(pages: readonly PdfPage[]): Set<string> {
  const fonts = new Map<string, FixedFont>();
  let all = 0;
  for (const { code, words } of pages.flatMap(({ lines }) => lines)) {
    all += words.length;
    if (!code) continue;
    const font = fonts.get(code.font) ?? { words: [], width: Math.round((100 * code.pitch) / code.size) };
    fonts.set(code.font, font);
    font.words.push(words);
  }
  const texts = [...fonts].map(([name, { words, width }]) => ({ name, text: words.join(''), width }));
  const sure = texts.filter(({ text }) => isOfOneWidth(text));
  // A document may embed the same font several times, each with only a few letters.
  const widths = new Set(sure.map(({ width }) => width));
  const own = texts.filter(({ text, width }) => widths.has(width) && !isIdeographic(text));
  return own.reduce((sum, { text }) => sum + text.length, 0) > MOST * all
    ? new Set()
    : new Set(own.map(({ name }) => name));
}

/**
 * Whether a text has letters whose widths differ in every proportional font; digits and signs may have one width
 * anyway.
 */
function isOfOneWidth(text: string): boolean {
  const letters = new Set(text.match(/[a-z]/gi) ?? []);
  const others = [...letters].filter((letter) => !NARROW.test(letter)).length;
  if (others === letters.size || others < OTHER_LETTERS) return false;
  return !isIdeographic(text);
}

function isIdeographic(text: string): boolean {
  return (text.match(IDEOGRAPHS)?.length ?? 0) > IDEOGRAPHS_MAX * text.length;
}

/** Joins consecutive lines of code at the same height, unless other text is at that height. */
function joinedCells(lines: readonly Line[]): Line[] {
  const joined: Line[] = [];
  for (let i = 0; i < lines.length; i += 1) {
    const first = lines[i] as Line;
    let end = i + 1;
    while (isLevel(first, lines[end])) end += 1;
    const row = lines.slice(i, end);
    const isAlone = !isLevel(first, lines[i - 1]);
    const line = row.length > 1 && isAlone ? asOneLine(row) : undefined;
    if (line) joined.push(line);
    else joined.push(...row);
    i = end - 1;
  }
  return joined;
}

function isLevel(line: Line, other: Line | undefined): boolean {
  return other !== undefined && Math.abs(line.y - other.y) < 0.2 * line.size && line.element === other.element;
}

/** Returns undefined if a part is not code or overlaps the others. */
function asOneLine(row: readonly Line[]): Line | undefined {
  const [first] = row;
  const number = first && !first.code && /^\d{1,5}$/.test(first.words) ? first.words : '';
  return withCells(number === '' ? row : row.slice(1), number || (first?.code?.number ?? ''), row);
}

function withCells(cells: readonly Line[], number: string, row: readonly Line[]): Line | undefined {
  const [first] = cells;
  const { pitch = 1, x = 0, size = 0, font = '' }: Partial<CodeLine> = first?.code ?? {};
  const parts: { text: string; x: number; right: number }[] = [];
  for (const [i, { code, right }] of cells.entries()) {
    if (!code || Math.abs(code.pitch - pitch) > 0.03 * pitch || (i > 0 && code.number !== '')) return undefined;
    const column = (code.x - x) / pitch;
    if (column < 0 || Math.abs(column - Math.round(column)) > OFF_GRID) return undefined;
    parts.push({ text: code.text, x: code.x, right });
  }
  if (!first) return undefined;
  const runs = [...(row[0]?.runs ?? [])].map((run) => ({ ...run }));
  for (const line of row.slice(1))
    for (const [i, run] of line.runs.entries()) addRun(runs, i === 0 ? ` ${run.text}` : run.text, run.url);
  const code: CodeLine = { number, ...onGrid(parts, pitch), pitch, size, font };
  const right = Math.max(...row.map((line) => line.right));
  const left = Math.min(...row.map((line) => line.x));
  return { ...first, x: left, right, runs, words: wordsOf(runs), code, parts: row.flatMap((line) => line.parts ?? []) };
}
