import { turnPoint } from '../page/frames.ts';
import { shareBefore } from '../page/letter-widths.ts';
import type { Line } from '../page/lines.ts';
import type { PdfPage } from '../page/page.ts';
import type { PlacedText } from '../page/placed-texts.ts';
import type { Point } from './painted-paths.ts';

/** Cells that are one text are looked for where this many rows may have them. */
const ROWS_MIN = 2;
/** How far from where a space is estimated to be the program writes the word behind it at most, and from the ends of the text at least, in sizes. */
const ESTIMATED = 1;
const WITHIN = 0.2;
/** How far from a word the text before it ends, in sizes: the middle of what the library takes for a space, the same for numbers that end at one place. */
const GAP = 0.35;
/** Where a cell may begin: a number, or what is behind one. */
const BOUNDARY = /(?<=\d[\d.,%)]* )(?=\S)|(?<=\S )(?=[+−-]?\d)|(?<=\p{L})(?=[+−-]?\d)|(?<=\d)(?=\p{L})/gu;
/** A number and a word, or two numbers: cells rather than words of a sentence. */
const CELLS = /\d[\d.,%)]* \S|\S [+−-]?[\d(]/;

/**
 * Divides, in pages whose rows look as if cells of a table were one text, the texts where the program of the page begins to write
 * at another place. Lines have the same words as before.
 */
export function withSeparateTexts(startsOf: (page: PdfPage) => readonly Point[]) {
  return (pages: readonly PdfPage[]): PdfPage[] =>
    pages.map((page) => {
      if (page.tabular.length === 0 || rowsWithCells(page) < ROWS_MIN) return page;
      const starts = Map.groupBy(
        startsOf(page).map(([x, y]) => turnPoint(x, y, page.angle)),
        ([, y]) => Math.round(y),
      );
      if (starts.size === 0) return page;
      return {
        ...page,
        lines: page.lines.map((line) => {
          const near = [-1, 0, 1].flatMap((step) => starts.get(Math.round(line.y) + step) ?? []);
          if (near.length < 2 || !line.parts) return line;
          const xs = near.map(([x]) => x).sort((a, b) => a - b);
          return { ...line, parts: line.parts.flatMap((part) => divided(part, xs)) };
        }),
      };
    });
}

/** How many rows of a page have a number beside another text, as near as a word, and something else beside these. */
function rowsWithCells({ lines }: PdfPage): number {
  const beside = Map.groupBy(lines, ({ y }) => Math.round(y));
  const isRow = ({ parts = [], code, y }: Line) =>
    !code &&
    CELLS.test(parts.map(({ text }) => text).join(' ')) &&
    parts.length + (beside.get(Math.round(y))?.length ?? 0) > 2;
  return lines.filter(isRow).length;
}

/** A text divided where a number, or what is behind one, begins at one of these places. */
function divided(part: PlacedText, starts: readonly number[]): PlacedText[] {
  const { size, url, rtl } = part;
  if (rtl || url !== '') return [part];
  const parts = [part];
  for (const [i, start] of starts.entries()) {
    const last = parts.at(-1) as PlacedText;
    const end = last.x + last.width;
    if (start <= last.x + WITHIN * size || start >= end - WITHIN * size) continue;
    const boundary = boundaryAt(last, start);
    const next = starts[i + 1];
    // Some programs write each letter at a place of its own.
    if (!boundary || (next !== undefined && Math.abs(next - boundary.x) < Math.abs(start - boundary.x))) continue;
    const [before, behind] = [last.text.slice(0, boundary.at), last.text.slice(boundary.at)];
    const width = Math.max(start - GAP * size - last.x, 0.5 * (start - last.x));
    parts.splice(-1, 1, { ...last, text: before, width }, { ...last, text: behind, x: start, width: end - start });
  }
  return parts;
}

/** Where in a text the cell begins that is at a place, as well as that is known. */
function boundaryAt({ text, x, width, size }: PlacedText, start: number): { at: number; x: number } | undefined {
  let best: { at: number; x: number } | undefined;
  for (const { index: at } of text.matchAll(BOUNDARY)) {
    const place = x + shareBefore(text, at) * width;
    const distance = Math.abs(place - start);
    if (distance < ESTIMATED * size && (!best || distance < Math.abs(best.x - start))) best = { at, x: place };
  }
  return best;
}
