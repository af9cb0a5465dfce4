import { turnPoint } from '../page/frames.ts';
import { shareBefore } from '../page/letter-widths.ts';
import type { Line } from '../page/lines.ts';
import type { PdfPage } from '../page/page.ts';
import type { PlacedText } from '../page/placed-texts.ts';
import type { Point } from './painted-paths.ts';

/** The number of rows that must look as if a text joins several cells. */
const ROWS_MIN = 2;
/**
 * The largest distance between the estimated position of a space and the start of the word that follows, and the
 * smallest distance to the ends of the text, in font sizes.
 */
const ESTIMATED = 1;
const WITHIN = 0.2;
/**
 * The distance from the end of a text to the next word, in font sizes: half of a gap that PDF.js reads as a space. It
 * is constant, so that numbers still end at one place.
 */
const GAP = 0.35;
/** A possible start of a cell: a number, or text after a number. */
const BOUNDARY = /(?<=\d[\d.,%)]* )(?=\S)|(?<=\S )(?=[+−-]?\d)|(?<=\p{L})(?=[+−-]?\d)|(?<=\d)(?=\p{L})/gu;
/** A number next to a word, or two numbers: cells rather than words of a sentence. */
const CELLS = /\d[\d.,%)]* \S|\S [+−-]?[\d(]/;

/**
 * Splits texts where the content stream starts writing at another place, on pages whose rows look as if a text joins
 * several cells. The words of lines do not change.
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

/** Counts rows that have a number as close as a word to another text, and further text at the same height. */
function rowsWithCells({ lines }: PdfPage): number {
  const beside = Map.groupBy(lines, ({ y }) => Math.round(y));
  const isRow = ({ parts = [], code, y }: Line) =>
    !code &&
    CELLS.test(parts.map(({ text }) => text).join(' ')) &&
    parts.length + (beside.get(Math.round(y))?.length ?? 0) > 2;
  return lines.filter(isRow).length;
}

/** Splits a text where a number, or text after a number, starts at a given place. */
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
    // Some programs place each letter separately.
    if (!boundary || (next !== undefined && Math.abs(next - boundary.x) < Math.abs(start - boundary.x))) continue;
    const [before, behind] = [last.text.slice(0, boundary.at), last.text.slice(boundary.at)];
    const width = Math.max(start - GAP * size - last.x, 0.5 * (start - last.x));
    parts.splice(-1, 1, { ...last, text: before, width }, { ...last, text: behind, x: start, width: end - start });
  }
  return parts;
}

/** Finds the cell boundary of a text that is closest to a place, within the error of the estimate. */
function boundaryAt({ text, x, width, size }: PlacedText, start: number): { at: number; x: number } | undefined {
  let best: { at: number; x: number } | undefined;
  for (const { index: at } of text.matchAll(BOUNDARY)) {
    const place = x + shareBefore(text, at) * width;
    const distance = Math.abs(place - start);
    if (distance < ESTIMATED * size && (!best || distance < Math.abs(best.x - start))) best = { at, x: place };
  }
  return best;
}
