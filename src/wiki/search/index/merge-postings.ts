import type { Query } from '../../../platform/db/db.ts';
import { compareTerms } from './blocks.ts';
import { packPairs } from './packed-postings.ts';
import type { Index } from './pending.ts';
import { MAX_POSTING_BYTES } from './postings.ts';
import {
  addDead,
  dropSegments,
  liveDocumentsIn,
  mergeTerms,
  readSegments,
  readTerms,
  type Segment,
  type TermPostings,
  writeSegment,
} from './segments.ts';

/**
 * A merge includes each segment that is at most this many times as large as its output so far. This keeps segments few,
 * each several times as large as the next, and rewrites a posting only as often as the index grows by this factor
 * (O'Neil, Cheng, Gawlick and O'Neil: The Log-Structured Merge-Tree, 1996).
 */
const GROWTH = 2;
/** A segment is rewritten once more than this share of its documents is dead. */
const MAX_DEAD = 0.25;
/**
 * Maximum share of an index that a merge writes, unless the index is small or the segment has too many dead documents.
 * Replaced segments stay on disk until PostgreSQL vacuums; merging everything at once would double the size of the
 * index.
 */
const MAX_SHARE = 0.25;
const SMALL_BYTES = 512 * 1024;
/** Larger segments are rewritten only for their dead documents, because rewriting takes long. */
const MAX_MERGED_BYTES = 128 * 2 ** 20;
/** Approximate bytes of a posting, and of a term in a small segment. */
const POSTING_BYTES = 2;
const TERM_BYTES = 8;

/** A document to merge, with the impacts of its terms; a deleted document has no impacts. */
export interface MergedDocument {
  document_no: number;
  /** Whether existing segments may have postings of the document. */
  isIndexed: boolean;
  impacts: ReadonlyMap<string, number>;
}

/**
 * Writes the postings of documents as a new segment, merged with smaller segments. In the remaining segments, the older
 * postings of these documents become dead.
 */
export async function mergePostings(query: Query, index: Index, documents: readonly MergedDocument[]): Promise<void> {
  const terms = termsOf(documents);
  const postings = documents.reduce((sum, { impacts }) => sum + impacts.size, 0);
  const added = TERM_BYTES * terms.length + POSTING_BYTES * postings;
  const written = documents.filter(({ isIndexed }) => isIndexed).map(({ document_no }) => document_no);
  const segments = await readSegments(query, index);
  const taken = chooseSegmentsToMerge(segments, added, written);
  for (const segment of segments) {
    if (!taken.includes(segment)) await addDead(query, index, segment, written);
  }
  const sources = taken.map(({ segment_id, dead }) =>
    readTerms(query, index, { segment_id, dead: new Set([...dead, ...written]) }),
  );
  await writeSegment(query, index, mergeTerms([iterate(terms), ...sources]), heldBy(documents, taken));
  await dropSegments(
    query,
    index,
    taken.map(({ segment_id }) => segment_id),
  );
}

/**
 * Returns the documents with postings in the new segment; undefined if a replaced segment does not know its documents.
 */
function heldBy(documents: readonly MergedDocument[], taken: readonly Segment[]): ReadonlySet<number> | undefined {
  const held = new Set<number>();
  for (const { held: own, dead } of taken) {
    if (!own) return undefined;
    for (const number of own) if (!dead.has(number)) held.add(number);
  }
  for (const { document_no, impacts } of documents) {
    if (impacts.size > 0) held.add(document_no);
    else held.delete(document_no);
  }
  return held;
}

async function* iterate(terms: readonly TermPostings[]): AsyncGenerator<readonly TermPostings[]> {
  yield terms;
}

/**
 * Chooses the segments to merge with new postings of `added` bytes. `written`: the documents whose older postings
 * become dead.
 */
export function chooseSegmentsToMerge(all: readonly Segment[], added: number, written: readonly number[]): Segment[] {
  const segments = all.toSorted((one, other) => one.bytes - other.bytes);
  const most = Math.max(SMALL_BYTES, MAX_SHARE * segments.reduce((sum, { bytes }) => sum + bytes, added));
  const isDead = (segment: Segment) =>
    segment.dead.size + liveDocumentsIn(segment, written).length > MAX_DEAD * segment.documents;
  const worst = segments.findLast(isDead);
  const taken = worst ? [worst] : [];
  let bytes = added + (worst?.bytes ?? 0);
  for (const segment of segments) {
    if (segment === worst) continue;
    const isSmall = worst !== undefined || segment.bytes <= GROWTH * bytes;
    if (!isSmall || bytes + segment.bytes > Math.min(most, MAX_MERGED_BYTES)) break;
    taken.push(segment);
    bytes += segment.bytes;
  }
  return taken;
}

const SURROGATE = /[\ud800-\udfff]/;

/** Groups the postings of documents by term, in the order of terms. */
function termsOf(documents: readonly MergedDocument[]): TermPostings[] {
  const terms = new Map<string, number[]>();
  for (const { document_no, impacts } of documents.toSorted((one, other) => one.document_no - other.document_no)) {
    for (const [term, impact] of impacts) {
      const pairs = terms.get(term);
      if (pairs) pairs.push(document_no, impact);
      else terms.set(term, [document_no, impact]);
    }
  }
  const names = [...terms.keys()];
  // Without surrogates, UTF-16 and UTF-8 sort alike, and the built-in comparison is faster.
  if (names.some((name) => SURROGATE.test(name))) names.sort(compareTerms);
  else names.sort();
  return names.map((name) => {
    const pairs = terms.get(name) ?? [];
    return [name, packPairs(pairs, (pairs.length / 2) * MAX_POSTING_BYTES)];
  });
}
