import { type Box, turnBox } from '../page/frames.ts';
import type { Line } from '../page/lines.ts';
import type { PdfPage } from '../page/page.ts';
import type { DrawnShapes } from './drawn-shapes.ts';

/**
 * The largest distance from a mark to the text of its item, and the smallest distance to the text before it, in font
 * sizes.
 */
const FAR = 2.5;
const APART = 1;
/** The largest side of a mark, and the height of its center above the baseline, in font sizes. */
const LARGE = 0.8;
const MIDDLE = { from: 0, to: 0.75 };

/** The number of lines that need the same mark; a single shape may be anything. */
const REPEATED = 2;

/** A line with the shape in front of it, placed as the mark of an item. */
interface MarkedLine {
  line: Line;
  shape: Box;
}

/** Adds a bullet to lines that have a disc, circle or square drawn in front of them. */
export function withDrawnMarks(shapesOf: (page: PdfPage) => DrawnShapes): (pages: readonly PdfPage[]) => PdfPage[] {
  return (pages) => {
    const marked = pages.map((page) => {
      const lines = page.lines.filter(({ element, isArtifact, cell }) => !element && !isArtifact && !cell);
      if (lines.length === 0) return [];
      const own = shapesOf(page).marks.map((shape) => turnBox(shape, page.angle));
      return own.length === 0 ? [] : markedLines(lines, own);
    });
    const counts = new Map<number, number>();
    for (const { shape } of marked.flat()) counts.set(sideOf(shape), (counts.get(sideOf(shape)) ?? 0) + 1);
    const isRepeated = ({ shape }: MarkedLine) =>
      [-1, 0, 1].reduce((sum, step) => sum + (counts.get(sideOf(shape) + step) ?? 0), 0) >= REPEATED;
    return pages.map((page, i) => {
      const byLine = new Map((marked[i] ?? []).filter(isRepeated).map(({ line, shape }) => [line, shape]));
      if (byLine.size === 0) return page;
      return { ...page, lines: page.lines.map((line) => withMark(line, byLine.get(line))) };
    });
  };
}

/** Returns a key that shapes of nearly the same size share. */
function sideOf({ x, right }: Box): number {
  return Math.round(8 * Math.log(right - x));
}

function markedLines(lines: readonly Line[], shapes: readonly Box[]): MarkedLine[] {
  return shapes.flatMap((shape) => {
    const middle = (shape.top + shape.bottom) / 2;
    const beside = lines.filter(
      ({ y, size }) =>
        middle > y + MIDDLE.from * size && middle < y + MIDDLE.to * size && shape.right - shape.x < LARGE * size,
    );
    const [line] = beside.filter(({ x }) => x >= shape.right - 1).sort((a, b) => a.x - b.x);
    if (!line || line.x - shape.right > FAR * line.size) return [];
    const isWithin = beside.some((other) => other.x < shape.x && other.right > shape.x - APART * line.size);
    return isWithin ? [] : [{ line, shape }];
  });
}

function withMark(line: Line, shape: Box | undefined): Line {
  if (!shape) return line;
  const runs = [{ text: '• ', url: '' }, ...line.runs];
  return { ...line, runs, words: `• ${line.words}`, x: shape.x, code: undefined, parts: undefined };
}
