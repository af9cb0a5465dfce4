import { type Change, diffWordsWithSpace } from 'diff';

/** A piece of a line that changed in part. */
export interface Segment {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Longer passages are new rather than changed, and comparing them costs more than it tells. */
const CHARACTERS_MAX = 20_000;
const EDITS_MAX = 300;

/**
 * What changed in lines (each with its line feed) that replace others, by word: the segments of each line of either side.
 * A line that shares no word with the other side has none; nor has any where there is too much to compare by `until`
 * (on the clock of `performance`).
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
