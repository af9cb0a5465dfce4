import { type Postings, writePostings, writeVarint } from './postings.ts';

/**
 * The postings of a term as stored in a segment: a range of bytes written by `writePostings`. A merge copies most
 * postings unchanged, so it does not decode them.
 */
export interface PackedPostings {
  bytes: Buffer;
  from: number;
  to: number;
}

const NOTHING: PackedPostings = { bytes: Buffer.alloc(0), from: 0, to: 0 };

/** Postings are written into a shared buffer: a separate buffer per term would cost more than its few bytes. */
const CHUNK_BYTES = 64 * 1024;
let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
let used = 0;

/** Reserves `most` bytes for `write`, which returns the offset after the last byte it wrote. */
function pack(most: number, write: (into: Buffer, at: number) => number): PackedPostings {
  if (used + most > chunk.length) {
    chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, most));
    used = 0;
  }
  const packed = { bytes: chunk, from: used, to: write(chunk, used) };
  used = packed.to;
  return packed;
}

/** `most`: upper bound of their size in bytes. */
export function packPostings(postings: Postings, most: number): PackedPostings {
  return pack(most, (into, at) => writePostings(postings, 0, postings.numbers.length, into, at));
}

/** Packs alternating numbers and impacts, ascending by number. */
export function packPairs(pairs: readonly number[], most: number): PackedPostings {
  return pack(most, (into, at) => {
    let end = at;
    for (let i = 0; i < pairs.length; i += 2) {
      end = writeVarint((pairs[i] as number) - (i === 0 ? 0 : (pairs[i - 2] as number)), into, end);
      into[end++] = pairs[i + 1] as number;
    }
    return end;
  });
}

export function isPackedEmpty({ from, to }: PackedPostings): boolean {
  return from === to;
}

/** Reads one posting at a time; `number` is Infinity after the last one. */
class PackedReader {
  number = 0;
  impact = 0;
  readonly #bytes: Buffer;
  readonly #to: number;
  #at: number;

  constructor({ bytes, from, to }: PackedPostings) {
    this.#bytes = bytes;
    this.#at = from;
    this.#to = to;
    this.next();
  }

  next(): void {
    if (this.#at >= this.#to) {
      this.number = Number.POSITIVE_INFINITY;
      return;
    }
    let byte = this.#bytes[this.#at++] as number;
    let difference = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = this.#bytes[this.#at++] as number;
      difference += (byte & 127) * unit;
    }
    this.number += difference;
    this.impact = this.#bytes[this.#at++] as number;
  }
}

/** Removes the postings of the documents in `dead`. */
export function packedWithoutDead(postings: PackedPostings, dead: ReadonlySet<number>): PackedPostings {
  if (dead.size === 0 || !containsAny(postings, dead)) return postings;
  // Removing a posting joins two differences into one, whose varint is no longer than both.
  return pack(postings.to - postings.from, (into, at) => {
    let [end, before] = [at, 0];
    const reader = new PackedReader(postings);
    for (; reader.number < Number.POSITIVE_INFINITY; reader.next()) {
      if (dead.has(reader.number)) continue;
      end = writeVarint(reader.number - before, into, end);
      into[end++] = reader.impact;
      before = reader.number;
    }
    return end;
  });
}

function containsAny(postings: PackedPostings, wanted: ReadonlySet<number>): boolean {
  const reader = new PackedReader(postings);
  for (; reader.number < Number.POSITIVE_INFINITY; reader.next()) if (wanted.has(reader.number)) return true;
  return false;
}

/** Merges several lists; a document in several lists gets its highest impact. */
export function unitePacked(lists: readonly PackedPostings[]): PackedPostings {
  let united = NOTHING;
  for (const list of lists) {
    if (isPackedEmpty(united)) united = list;
    else if (!isPackedEmpty(list)) united = uniteTwo(united, list);
  }
  return united;
}

function uniteTwo(one: PackedPostings, other: PackedPostings): PackedPostings {
  // Differences can only shrink, so both inputs together are an upper bound.
  return pack(one.to - one.from + other.to - other.from, (into, at) => {
    const [left, right] = [new PackedReader(one), new PackedReader(other)];
    let [end, before] = [at, 0];
    for (;;) {
      const number = Math.min(left.number, right.number);
      if (number === Number.POSITIVE_INFINITY) return end;
      let impact = 0;
      if (left.number === number) {
        impact = left.impact;
        left.next();
      }
      if (right.number === number) {
        impact = Math.max(impact, right.impact);
        right.next();
      }
      end = writeVarint(number - before, into, end);
      into[end++] = impact;
      before = number;
    }
  });
}
