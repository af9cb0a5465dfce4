import { MAX_POSTING_BYTES, type Postings, readPostings, writePostings, writeVarint } from './postings.ts';

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

/** Cuts terms into blocks, in ascending order of terms. */
export function blockWriter() {
  let blocks: Block[] = [];
  let shared: { term: string; bytes: Buffer[]; length: number } | undefined;
  let previous: Buffer = Buffer.alloc(0);
  let scratch = Buffer.alloc(64 * 1024);
  const endShared = () => {
    if (shared) blocks.push({ term: shared.term, part: 0, documents: 0, bytes: Buffer.concat(shared.bytes) });
    shared = undefined;
    previous = Buffer.alloc(0);
  };
  const addOwn = (term: string, postings: Postings) => {
    endShared();
    const count = postings.numbers.length;
    for (let part = 0, first = 0; first < count; part += 1) {
      let to = Math.min(count, first + PART_BYTES / 2);
      let end = writePostings(postings, first, to, scratch, 0);
      while (end > PART_BYTES) {
        to = first + Math.floor(((to - first) * PART_BYTES) / end);
        end = writePostings(postings, first, to, scratch, 0);
      }
      blocks.push({ term, part, documents: to - first, bytes: Buffer.from(scratch.subarray(0, end)) });
      first = to;
    }
  };
  return {
    add(term: string, postings: Postings): void {
      const most = postings.numbers.length * MAX_POSTING_BYTES;
      if (scratch.length < most) scratch = Buffer.alloc(2 * most);
      if (2 * postings.numbers.length > OWN_BYTES) {
        addOwn(term, postings);
        return;
      }
      const name = Buffer.from(term);
      const length = writePostings(postings, 0, postings.numbers.length, scratch, 0);
      let common = 0;
      while (common < previous.length && common < name.length && previous[common] === name[common]) common += 1;
      const head = Buffer.alloc(15);
      let end = writeVarint(common, head, 0);
      end = writeVarint(name.length - common, head, end);
      end = writeVarint(length, head, end);
      shared ??= { term, bytes: [], length: 0 };
      shared.bytes.push(head.subarray(0, end), name.subarray(common), Buffer.from(scratch.subarray(0, length)));
      shared.length += end + name.length - common + length;
      previous = name;
      if (shared.length >= SHARED_BYTES) endShared();
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
    bytes.copy(name, common, at, at + rest);
    at += rest;
    yield { term: name.toString('utf8', 0, common + rest), from: at, to: at + length };
    at += length;
  }
}

/** The postings of a term of its own from its blocks, in the order of parts. */
export function joinParts(parts: readonly Buffer[]): Postings {
  const lists = parts.map((part) => readPostings(part));
  if (lists.length === 1) return lists[0] as Postings;
  const count = lists.reduce((sum, { numbers }) => sum + numbers.length, 0);
  const joined = { numbers: new Uint32Array(count), impacts: new Uint8Array(count) };
  let at = 0;
  for (const { numbers, impacts } of lists) {
    joined.numbers.set(numbers, at);
    joined.impacts.set(impacts, at);
    at += numbers.length;
  }
  return joined;
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

/** The postings of a block of search_postings, the format before segments: count, offsets of 16 bits, impacts. */
export function readOldBlock(bytes: Buffer): Postings {
  const first = bytes.readUInt16LE(0) * 4_096;
  const count = bytes.readUInt16LE(2);
  const numbers = new Uint32Array(count);
  for (let i = 0; i < count; i += 1) numbers[i] = first + bytes.readUInt16LE(4 + 2 * i);
  return { numbers, impacts: new Uint8Array(bytes.subarray(4 + 2 * count)) };
}
