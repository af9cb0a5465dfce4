import type { PackedPostings } from './packed-postings.ts';
import {
  concatenatePostings,
  MAX_POSTING_BYTES,
  type Postings,
  readPostings,
  writePostings,
  writeVarint,
} from './postings.ts';

/**
 * A row of search_blocks. The terms of a segment, sorted by their bytes, are cut into blocks. Rare terms share a block
 * with their neighbours; a frequent term has blocks of its own, cut into parts.
 */
export interface Block {
  /** The first term of the block. */
  term: string;
  part: number;
  /** Number of postings, if the block belongs to a single term; 0 if it holds several terms. */
  documents: number;
  bytes: Buffer;
}

/**
 * Target size of a shared block. Larger blocks waste less on rows and keys; smaller blocks make it cheaper to read one
 * term.
 */
const SHARED_BYTES = 1_200;
/** A term whose postings take more than this, at two bytes each, gets blocks of its own. */
const OWN_BYTES = 600;
/** Maximum size of a part. Four rows of this size fill a page of PostgreSQL. */
const PART_BYTES = 1_850;

/** Upper bound for the three varints in front of a term in a shared block. */
const HEAD_BYTES = 15;

/** Cuts terms, which must be added in ascending order, into blocks. */
export function blockWriter() {
  let blocks: Block[] = [];
  /** The first term of the current shared block. */
  let first: string | undefined;
  let shared = Buffer.allocUnsafe(4 * SHARED_BYTES);
  let end = 0;
  let name = Buffer.allocUnsafe(256);
  let previous = Buffer.allocUnsafe(256);
  let previousLength = 0;
  const endShared = () => {
    if (first !== undefined) {
      blocks.push({ term: first, part: 0, documents: 0, bytes: Buffer.from(shared.subarray(0, end)) });
    }
    first = undefined;
    end = 0;
    previousLength = 0;
  };
  const addShared = (term: string, { bytes, from, to }: PackedPostings) => {
    const most = 3 * term.length;
    if (name.length < most) name = Buffer.allocUnsafe(2 * most);
    const length = name.write(term);
    let common = 0;
    while (common < previousLength && common < length && previous[common] === name[common]) common += 1;
    const needed = end + HEAD_BYTES + length + to - from;
    if (shared.length < needed) shared = Buffer.concat([shared.subarray(0, end)], 2 * needed);
    first ??= term;
    end = writeVarint(common, shared, end);
    end = writeVarint(length - common, shared, end);
    end = writeVarint(to - from, shared, end);
    for (let i = common; i < length; i += 1) shared[end++] = name[i] as number;
    for (let i = from; i < to; i += 1) shared[end++] = bytes[i] as number;
    const free = previous;
    previous = name;
    previousLength = length;
    name = free;
    if (end >= SHARED_BYTES) endShared();
  };
  return {
    add(term: string, packed: PackedPostings): void {
      // Fewer bytes cannot hold enough postings: a posting takes at least two.
      const postings =
        packed.to - packed.from > OWN_BYTES ? readPostings(packed.bytes, packed.from, packed.to) : undefined;
      if (!postings || 2 * postings.numbers.length <= OWN_BYTES) {
        addShared(term, packed);
        return;
      }
      endShared();
      blocks.push(...partsOf(term, postings));
    },
    /** Returns the blocks completed since the last call, including the unfinished one if `isEnd`. */
    take(isEnd = false): Block[] {
      if (isEnd) endShared();
      const taken = blocks;
      blocks = [];
      return taken;
    },
  };
}

/** Cuts the postings of a frequent term into its own blocks. */
function partsOf(term: string, postings: Postings): Block[] {
  const count = postings.numbers.length;
  const scratch = Buffer.allocUnsafe(MAX_POSTING_BYTES * Math.min(count, PART_BYTES / 2));
  const blocks: Block[] = [];
  for (let part = 0, from = 0; from < count; part += 1) {
    let to = Math.min(count, from + Math.floor(PART_BYTES / 2));
    let end = writePostings(postings, from, to, scratch, 0);
    while (end > PART_BYTES) {
      to = from + Math.floor(((to - from) * PART_BYTES) / end);
      end = writePostings(postings, from, to, scratch, 0);
    }
    blocks.push({ term, part, documents: to - from, bytes: Buffer.from(scratch.subarray(0, end)) });
    from = to;
  }
  return blocks;
}

/** A term in a shared block, and the byte range of its postings. */
export interface Entry {
  term: string;
  from: number;
  to: number;
}

/** Parses the terms of a shared block. */
export function* entriesOf(bytes: Buffer): Generator<Entry> {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes[at++] as number;
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  };
  let name = Buffer.alloc(256);
  while (at < bytes.length) {
    const common = varint();
    const rest = varint();
    const length = varint();
    if (common + rest > name.length) name = Buffer.concat([name, Buffer.alloc(common + rest)]);
    for (let i = common; i < common + rest; i += 1) name[i] = bytes[at++] as number;
    yield { term: name.toString('utf8', 0, common + rest), from: at, to: at + length };
    at += length;
  }
}

/** Joins the blocks of a frequent term, given in the order of their parts. */
export function joinParts(parts: readonly Buffer[]): Postings {
  return concatenatePostings(parts.map((part) => readPostings(part)));
}

/** Compares terms by their UTF-8 bytes, the order of terms in a segment and of PostgreSQL's collation "C". */
export function compareTerms(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i += 1) {
    const [a, b] = [one.charCodeAt(i), other.charCodeAt(i)];
    if (a !== b) return rankOf(a) - rankOf(b);
  }
  return one.length - other.length;
}

/** Surrogates sort before U+E000 in UTF-16, but encode characters above U+FFFF, which UTF-8 sorts last. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
