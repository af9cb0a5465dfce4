/** The postings of a term: the numbers of the documents that contain it, ascending, and its impact in each, 1 to 255. */
export interface Postings {
  numbers: Uint32Array;
  impacts: Uint8Array;
}

const NO_POSTINGS: Postings = { numbers: new Uint32Array(0), impacts: new Uint8Array(0) };

/** Maximum size of one posting. */
export const MAX_POSTING_BYTES = 6;

/**
 * Writes postings `from` to `to - 1` as pairs: the difference to the previous number (for the first: the number) as a
 * varint of seven bits a byte, and the impact. Returns the offset after the last byte.
 */
export function writePostings(
  { numbers, impacts }: Postings,
  from: number,
  to: number,
  into: Buffer,
  at: number,
): number {
  let end = at;
  let before = 0;
  for (let i = from; i < to; i += 1) {
    const number = numbers[i] as number;
    end = writeVarint(number - before, into, end);
    into[end++] = impacts[i] as number;
    before = number;
  }
  return end;
}

/** Parses postings written by `writePostings`. */
export function readPostings(bytes: Buffer, from = 0, to = bytes.length): Postings {
  let count = 0;
  for (let at = from; at < to; at += 2, count += 1) while ((bytes[at] as number) > 127) at += 1;
  const numbers = new Uint32Array(count);
  const impacts = new Uint8Array(count);
  let number = 0;
  for (let i = 0, at = from; i < count; i += 1) {
    let byte = bytes[at++] as number;
    let difference = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++] as number;
      difference += (byte & 127) * 2 ** shift;
    }
    number += difference;
    numbers[i] = number;
    impacts[i] = bytes[at++] as number;
  }
  return { numbers, impacts };
}

export function writeVarint(value: number, into: Buffer, at: number): number {
  let end = at;
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) into[end++] = (rest & 127) | 128;
  into[end++] = rest;
  return end;
}

/** Removes the postings of the documents in `dead`. */
export function withoutDead(postings: Postings, dead: ReadonlySet<number>): Postings {
  if (dead.size === 0 || !containsAny(postings.numbers, dead)) return postings;
  const kept = { numbers: new Uint32Array(postings.numbers.length), impacts: new Uint8Array(postings.numbers.length) };
  let count = 0;
  for (let i = 0; i < postings.numbers.length; i += 1) {
    const number = postings.numbers[i] as number;
    if (dead.has(number)) continue;
    kept.numbers[count] = number;
    kept.impacts[count] = postings.impacts[i] as number;
    count += 1;
  }
  return { numbers: kept.numbers.subarray(0, count), impacts: kept.impacts.subarray(0, count) };
}

function containsAny(numbers: Uint32Array, wanted: ReadonlySet<number>): boolean {
  for (let i = 0; i < numbers.length; i += 1) if (wanted.has(numbers[i] as number)) return true;
  return false;
}

/** Merges several lists; a document in several lists gets its highest impact. */
export function unitePostings(lists: readonly Postings[]): Postings {
  const filled = lists.filter(({ numbers }) => numbers.length > 0);
  return uniteSorted(filled.sort((one, other) => (one.numbers[0] as number) - (other.numbers[0] as number)));
}

/** Merges lists that are sorted by their first numbers. Lists of segments rarely overlap, and are then concatenated. */
function uniteSorted(lists: readonly Postings[]): Postings {
  const [first = NO_POSTINGS] = lists;
  if (lists.length < 2) return first;
  const areBehind = lists.every(
    ({ numbers }, i) => i === 0 || (numbers[0] as number) > (lists[i - 1]?.numbers.at(-1) as number),
  );
  if (areBehind) return concatenatePostings(lists);
  const half = lists.length >> 1;
  return uniteTwo(uniteSorted(lists.slice(0, half)), uniteSorted(lists.slice(half)));
}

/** Concatenates lists; each must have higher numbers than the previous ones. */
export function concatenatePostings(lists: readonly Postings[]): Postings {
  const [first] = lists;
  if (first && lists.length === 1) return first;
  const length = lists.reduce((sum, { numbers }) => sum + numbers.length, 0);
  const all = { numbers: new Uint32Array(length), impacts: new Uint8Array(length) };
  let at = 0;
  for (const { numbers, impacts } of lists) {
    all.numbers.set(numbers, at);
    all.impacts.set(impacts, at);
    at += numbers.length;
  }
  return all;
}

function uniteTwo(one: Postings, other: Postings): Postings {
  const ones = one.numbers.length;
  const others = other.numbers.length;
  const numbers = new Uint32Array(ones + others);
  const impacts = new Uint8Array(ones + others);
  let count = 0;
  let i = 0;
  let j = 0;
  // No destructuring: in unoptimized code each step would allocate arrays, and a query may end before the loop is
  // compiled.
  while (i < ones && j < others) {
    const left = one.numbers[i] as number;
    const right = other.numbers[j] as number;
    numbers[count] = left < right ? left : right;
    if (left < right) impacts[count++] = one.impacts[i++] as number;
    else if (right < left) impacts[count++] = other.impacts[j++] as number;
    else impacts[count++] = Math.max(one.impacts[i++] as number, other.impacts[j++] as number);
  }
  const [rest, from] = i < ones ? [one, i] : [other, j];
  numbers.set(rest.numbers.subarray(from), count);
  impacts.set(rest.impacts.subarray(from), count);
  count += rest.numbers.length - from;
  return { numbers: numbers.subarray(0, count), impacts: impacts.subarray(0, count) };
}

/** Adds each document's impact times `weight` to its score. */
export function addImpacts({ numbers, impacts }: Postings, weight: number, scores: Float32Array): void {
  for (let i = 0; i < numbers.length; i += 1) {
    const number = numbers[i] as number;
    scores[number] = (scores[number] as number) + weight * (impacts[i] as number);
  }
}

/** Packs ascending document numbers as varints of their differences, about a byte each. */
export function packNumbers(numbers: Uint32Array): Buffer {
  const bytes = Buffer.alloc(5 * numbers.length);
  let end = 0;
  for (const [i, number] of numbers.entries()) end = writeVarint(number - (numbers[i - 1] ?? 0), bytes, end);
  return bytes.subarray(0, end);
}

export function unpackNumbers(bytes: Buffer): Uint32Array {
  const numbers = new Uint32Array(bytes.length);
  let [count, number, value, unit] = [0, 0, 0, 1];
  for (const byte of bytes) {
    value += (byte & 127) * unit;
    unit *= 128;
    if (byte > 127) continue;
    number += value;
    numbers[count++] = number;
    [value, unit] = [0, 1];
  }
  return numbers.subarray(0, count);
}
