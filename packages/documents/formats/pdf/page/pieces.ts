import { CELL_GAP } from './lines.ts';
import type { PlacedText } from './placed-texts.ts';

/** The smallest gap that may separate cells of a table, in font sizes. */
const NARROW_GAP = 0.45;
/** The number of rows whose pieces must align, within this many points. */
const TABULAR_ROWS = 3;
const ALIGNED_POINTS = 2;
/** The longest text of a cell; longer text is prose in columns. */
const CELL_LENGTH = 30;

/**
 * Whether texts form rows of short pieces that align vertically, so that it pays to search for ruled lines. With
 * `hasCells`, wide gaps already separate cells, and only pieces within a cell count. Full lines of justified text are
 * not evidence, because all of them start and end at the same places.
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

/** Splits rows of texts into pieces at gaps; with `hasCells`, also splits rows into cells. */
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
