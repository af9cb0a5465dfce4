import { type CodeLine, onGrid } from './page/code-lines.ts';
import { addRun, type Line, wordsOf } from './page/lines.ts';
import type { PdfPage } from './page/page.ts';

/** Letters that are narrow in other fonts, and how many others a font must have for its widths to say anything. */
const NARROW = /[fijlrtI]/;
const OTHER_LETTERS = 3;

/** Of a text whose lines are code for the most part, as one that a typewriter wrote, the font says nothing. */
const MOST = 0.8;

/** Japanese and Chinese fonts have letters of one width for the text, too. */
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const IDEOGRAPHS_MAX = 0.1;

/** Cells of a line of code stand on the grid of its characters, within this share of a character. */
const OFF_GRID = 0.15;

/**
 * The pages with `code` only for lines of fonts that the document has beside those of its prose, and lines of code joined
 * where wide gaps divided them.
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
  /** The width of its characters, in hundredths of its size. */
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
  // The pages of a document may have parts of one font, each with the few letters that it shows.
  const widths = new Set(sure.map(({ width }) => width));
  const own = texts.filter(({ text, width }) => widths.has(width) && !isIdeographic(text));
  return own.reduce((sum, { text }) => sum + text.length, 0) > MOST * all
    ? new Set()
    : new Set(own.map(({ name }) => name));
}

/** Whether a text has letters whose widths differ in all other fonts: a few digits or signs have one width anyway. */
function isOfOneWidth(text: string): boolean {
  const letters = new Set(text.match(/[a-z]/gi) ?? []);
  const others = [...letters].filter((letter) => !NARROW.test(letter)).length;
  if (others === letters.size || others < OTHER_LETTERS) return false;
  return !isIdeographic(text);
}

function isIdeographic(text: string): boolean {
  return (text.match(IDEOGRAPHS)?.length ?? 0) > IDEOGRAPHS_MAX * text.length;
}

/** Lines of code at one height, written one after the other, are one, if nothing else stands beside them. */
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

/** Undefined if not all are code, or one stands between the characters of the others. */
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
