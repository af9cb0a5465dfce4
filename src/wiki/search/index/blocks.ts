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
 * A row of search_blocks. A segment's terms, in the order of their bytes, are cut into blocks. The postings of a rare term share
 * one with its neighbours; those of a frequent term have blocks of their own, cut into parts.
 */
export interface Block {
  /** The first term. */
  term: string;
  part: number;
  /** How many postings of its only term it has; 0: it holds several terms. */
  documents: number;
  bytes: Buffer;
}

/** Larger blocks waste less on rows and their keys; smaller ones cost a search less that needs one term of them. */
const SHARED_BYTES = 1_200;
/** The postings of a term that has blocks of its own. */
const OWN_BYTES = 600;
/** So that four rows fill a page of PostgreSQL. */
const PART_BYTES = 1_850;

/** Longer than what is before the name of a term in a shared block. */
const HEAD_BYTES = 15;

/** Cuts terms into blocks, in ascending order of terms. */
export function blockWriter() {
  let blocks: Block[] = [];
  /** The first term of the shared block that is being written. */
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
      // A posting takes at least two bytes.
      const postings =
        packed.to - packed.from > OWN_BYTES ? readPostings(packed.bytes, packed.from, packed.to) : undefined;
      if (!postings || 2 * postings.numbers.length <= OWN_BYTES) {
        addShared(term, packed);
        return;
      }
      endShared();
      blocks.push(...partsOf(term, postings));
    },
    /** The blocks that are complete since the last call; all of them if `isEnd`. */
    take(isEnd = false): Block[] {
      if (isEnd) endShared();
      const taken = blocks;
      blocks = [];
      return taken;
    },
  };
}

/** The blocks of a term that has its own. */
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

/** A term in a shared block, and where in the block its postings are. */
export interface Entry {
  term: string;
  from: number;
  to: number;
}

/** The terms of a shared block. */
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

/** The postings of a term of its own from its blocks, in the order of parts. */
export function joinParts(parts: readonly Buffer[]): Postings {
  return concatenatePostings(parts.map((part) => readPostings(part)));
}

/** The order of terms in a segment: that of their bytes in UTF-8, as of PostgreSQL's collation "C". */
export function compareTerms(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i += 1) {
    const [a, b] = [one.charCodeAt(i), other.charCodeAt(i)];
    if (a !== b) return rankOf(a) - rankOf(b);
  }
  return one.length - other.length;
}

/** UTF-16 has its surrogates before U+E000, UTF-8 what they stand for behind U+FFFF. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
