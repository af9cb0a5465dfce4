import { PREFIX_END } from '@ibid/markdown/analysis/document-terms.ts';
import { compareTerms } from '../../index/blocks.ts';
import type { Index } from '../../index/pending.ts';
import { type FoundRow, joinFound, type Part, partsOf, type Wanted } from './found-blocks.ts';
import { addToCache, cached } from './posting-cache.ts';

/**
 * An index of up to this size, about 1,500 pages, is cached whole from the second search in a process. Searches for new
 * words then need only one statement too.
 */
export const MAX_WHOLE_BYTES = 2 ** 20;

/** Maximum number of blocks to read for all terms with a prefix. */
export const MAX_BLOCKS_OF_PREFIX = 100;

/** Memory per block in addition to its postings, in bytes. */
const BLOCK_OVERHEAD = 250;

const wholeName = (segment_id: string) => `whole ${segment_id}`;

export function isWhole(index: Index, segment_id: string): boolean {
  return cached(index, wholeName(segment_id)) !== undefined;
}

/** Caches the segments whose blocks are all among the rows. */
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

/**
 * Finds the postings of a request in a cached whole segment, with the same result as reading its blocks by key. Returns
 * undefined if the segment is not cached.
 */
export function partOfWhole(index: Index, segment_id: string, wanted: Wanted): Part | undefined {
  const blocks = cached<FoundRow[]>(index, wholeName(segment_id));
  if (!blocks) return undefined;
  const until = wanted.text + (wanted.isPrefix ? PREFIX_END : '\u0001');
  const from = firstFrom(blocks, wanted.text);
  const most = wanted.isPrefix ? from + MAX_BLOCKS_OF_PREFIX : blocks.length;
  const to = Math.min(firstFrom(blocks, until), most);
  // A shared block that begins at a lower term may contain the requested one.
  const begin = from > 0 && blocks[from - 1]?.documents === 0 ? from - 1 : from;
  return joinFound(partsOf([wanted], blocks.slice(begin, to)).get(0) ?? []);
}

/** Returns the index of the first block whose first term is at least `term`. */
function firstFrom(blocks: readonly FoundRow[], term: string): number {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareTerms(blocks[middle]?.term ?? '', term) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
