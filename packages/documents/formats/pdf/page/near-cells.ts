import { shareBefore } from './letter-widths.ts';
import type { PlacedText } from './placed-texts.ts';

/**
 * The error of estimated positions of spaces in a text, in font sizes. It is larger in a head, where words may be
 * centered in their column.
 */
export const ESTIMATED = 0.9;
export const ESTIMATED_IN_HEAD = 1.8;

/** Two numbers in most rows of a column are two cells, unless they are one number with a space between thousands. */
const PAIR = /^(?:[+−-]?\d[\d.,]*%?|[–—-]) (?:[+−-]?\d[\d.,]*%?|[–—-])$/;
const THOUSANDS = /^[+−-]?\d{1,3} \d{3}$/;
const PAIRS = 0.8;

/** The number of rows with text on both sides that a column gap needs. */
export const ROWS_MIN = 3;

/** A run of texts in a row without a gap. */
export interface Piece {
  x: number;
  right: number;
  size: number;
  /** Undefined for a line that cannot be split. */
  parts: readonly PlacedText[] | undefined;
}

export function isNumber({ parts }: Piece): boolean {
  return parts !== undefined && !parts.some(({ text }) => /\p{L}/u.test(text));
}

/** Whether the piece spans several lines. */
export function isTall({ parts = [], size }: Piece): boolean {
  return parts.some(({ y }) => Math.abs(y - (parts[0]?.y ?? 0)) > 0.5 * size);
}

/** Finds gaps between numbers that are so close in all rows that each pair is one text. */
export function gapsInPairs(
  gaps: readonly { from: number; to: number }[],
  table: readonly (readonly Piece[])[],
): { from: number; to: number }[] {
  return [undefined, ...gaps].flatMap((before, k) => {
    const next = gaps[k];
    const cells = table.flatMap((row) => {
      const own = row.filter(({ x, right }) => x >= (before?.to ?? 0) - 0.1 && right <= (next?.from ?? 1e6) + 0.1);
      return own.length === 1 && own.every(isNumber) ? own.map(({ parts = [] }) => parts) : [];
    });
    const pairs = cells.filter((parts) => PAIR.test(textOf(parts)));
    if (
      pairs.length < Math.max(ROWS_MIN, PAIRS * cells.length) ||
      pairs.every((parts) => THOUSANDS.test(textOf(parts)))
    )
      return [];
    const places = pairs.flatMap((parts) =>
      parts.flatMap(({ text, x, width }) =>
        text.includes(' ') ? [x + ((text.indexOf(' ') + 0.5) / text.length) * width] : [],
      ),
    );
    const middle = places.sort((a, b) => a - b)[places.length >> 1] ?? 0;
    return [{ from: middle - 0.1, to: middle + 0.1 }];
  });
}

function textOf(parts: readonly PlacedText[]): string {
  return parts
    .map(({ text }) => text)
    .join('')
    .trim();
}

/**
 * Finds the space at which to split a piece that crosses a gap. `off`: the error of the estimated position, in font
 * sizes.
 */
export function cutOf(
  { x, right, size, parts }: Piece,
  { from, to }: { from: number; to: number },
  off = ESTIMATED,
): { part: PlacedText; at: number } | undefined {
  if (!parts || x >= to - 0.1 || right <= from + 0.1) return undefined;
  let best: { part: PlacedText; at: number; distance: number } | undefined;
  for (const part of parts) {
    const { text, width } = part;
    if (part.x > to || part.x + width < from) continue;
    for (let at = text.indexOf(' ', 1); at > 0 && at < text.length - 1; at = text.indexOf(' ', at + 1)) {
      const place = part.x + shareBefore(text, at) * width;
      if (place < from - off * size || place > to + off * size) continue;
      const distance = Math.abs(place - to);
      if (distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { part, at, distance };
    }
  }
  return best;
}
