import { PREFIX_END } from '@ibid/markdown/analysis/document-terms.ts';
import { compareTerms } from '../../index/blocks.ts';
import type { Index } from '../../index/pending.ts';
import { type FoundRow, joinFound, type Part, partsOf, type Wanted } from './found-blocks.ts';
import { addToCache, cached } from './posting-cache.ts';

/**
 * Up to this size the index of a wiki is read whole by a process that is asked again, so that it knows the postings of every word:
 * about 1,500 pages. A search for words that were not looked for before is one statement then, too.
 */
export const MAX_WHOLE_BYTES = 2 ** 20;

/** The most blocks that are looked at for all terms that begin in one way. */
export const MAX_BLOCKS_OF_PREFIX = 100;

/** What a block takes in memory beside its postings. */
const BLOCK_OVERHEAD = 250;

const wholeName = (segment_id: string) => `whole ${segment_id}`;

export function isWhole(index: Index, segment_id: string): boolean {
  return cached(index, wholeName(segment_id)) !== undefined;
}

/** Keeps the segments of which all blocks are among the rows. */
export function keepWhole(index: Index, rows: readonly FoundRow[]): void {
  const blocks = new Map<string, FoundRow[]>();
  for (const row of rows) {
    if (row.what !== 'whole' || row.segment_id === null) continue;
    const others = blocks.get(row.segment_id);
    if (others) others.push(row);
    else blocks.set(row.segment_id, [row]);
  }
  for (const [segment_id, own] of blocks) {
    own.sort((a, b) => compareTerms(a.term ?? '', b.term ?? '') || (a.no ?? 0) - (b.no ?? 0));
    const size = own.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0) + BLOCK_OVERHEAD, 0);
    addToCache(index, wholeName(segment_id), own, size);
  }
}

/** What a segment that is kept whole has of what is wanted, as reading its blocks by their keys would find it. */
export function partOfWhole(index: Index, segment_id: string, wanted: Wanted): Part | undefined {
  const blocks = cached<FoundRow[]>(index, wholeName(segment_id));
  if (!blocks) return undefined;
  const until = wanted.text + (wanted.isPrefix ? PREFIX_END : '\u0001');
  const from = firstFrom(blocks, wanted.text);
  const most = wanted.isPrefix ? from + MAX_BLOCKS_OF_PREFIX : blocks.length;
  const to = Math.min(firstFrom(blocks, until), most);
  // A block of several terms may have it that begins before it.
  const begin = from > 0 && blocks[from - 1]?.documents === 0 ? from - 1 : from;
  return joinFound(partsOf([wanted], blocks.slice(begin, to)).get(0) ?? []);
}

/** The place of the first block whose first term is at least `term`. */
function firstFrom(blocks: readonly FoundRow[], term: string): number {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareTerms(blocks[middle]?.term ?? '', term) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
