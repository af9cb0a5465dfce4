import type { PdfBlock } from './pdf-block.ts';

/** Returns the font size of most of the text, rounded to half points. */
export function usualSize(blocks: readonly PdfBlock[]): number {
  const letters = new Map<number, number>();
  for (const { size, runs, rows } of blocks) {
    const length = [...rows.flat(), runs].flat().reduce((sum, { text }) => sum + text.length, 0);
    const rounded = Math.round(2 * size);
    letters.set(rounded, (letters.get(rounded) ?? 0) + length);
  }
  return ([...letters].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0) / 2;
}
