import { lineEndsIn } from '@ibid/markdown/plain-text.ts';
import { addRuns, type LineRun } from '../source-lines.ts';
import type { Block } from './blocks.ts';
import { piecesOf } from './pieces.ts';

/**
 * Returns a function that maps the blocks of a part to lines of the file. `runs` map the lines of the whole document;
 * without `runs` the Markdown is the file.
 */
export function linesOfParts(markdown: string, runs?: readonly LineRun[]): (blocks: readonly Block[]) => LineRun[] {
  const lineAt = lineFinder(markdown);
  return (blocks) => {
    const lines: LineRun[] = [];
    let at = 1;
    for (const [text, place] of piecesOf(blocks, markdown)) {
      const ends = lineEndsIn(text);
      if (place >= 0) addRuns(lines, { at, line: lineAt(place), count: 1 + ends }, runs);
      at += ends;
    }
    return lines;
  };
}

/** Returns a function that converts offsets in a text to lines, counted from 1. */
function lineFinder(text: string): (place: number) => number {
  const ends = new Uint32Array(lineEndsIn(text));
  let at = -1;
  for (let i = 0; i < ends.length; i += 1) {
    at = text.indexOf('\n', at + 1);
    ends[i] = at;
  }
  return (place) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
