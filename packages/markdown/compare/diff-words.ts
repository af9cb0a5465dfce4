import { type Change, diffWordsWithSpace } from 'diff';

/** A segment of a partly changed line. */
export interface Segment {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Comparing longer passages by word costs more than it shows. */
const CHARACTERS_MAX = 20_000;
const EDITS_MAX = 300;

/**
 * Compares replaced lines (each with its line feed) by word. Returns the segments of each line of both sides. A line
 * has no segments if it shares no word with the other side, is too long, or was not compared before `until`
 * (`performance.now()`).
 */
export function changedWords(removed: readonly string[], added: readonly string[], until: number) {
  const timeout = until - performance.now();
  const [from, to] = [removed.join(''), added.join('')];
  const isSmall = from.length <= CHARACTERS_MAX && to.length <= CHARACTERS_MAX;
  const words =
    isSmall && timeout > 0 ? diffWordsWithSpace(from, to, { maxEditLength: EDITS_MAX, timeout }) : undefined;
  return { removed: segmentsOf(words ?? [], 'removed'), added: segmentsOf(words ?? [], 'added') };
}

function segmentsOf(words: readonly Change[], side: 'added' | 'removed'): Segment[][] {
  const lines: Segment[][] = [[]];
  for (const { added, removed, value } of words) {
    if (side === 'removed' ? added : removed) continue;
    const kind = added || removed ? side : 'same';
    for (const [i, text] of value.split('\n').entries()) {
      if (i > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ kind, text });
    }
  }
  return lines.map((segments) =>
    segments.some(({ kind, text }) => kind === 'same' && /\S/.test(text)) ? segments : [],
  );
}
