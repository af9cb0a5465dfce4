import { CELL_GAP } from './lines.ts';
import type { PlacedText } from './placed-texts.ts';

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
