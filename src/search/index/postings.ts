/**
 * The postings of a term in binary form. The documents of an index are divided into chunks of CHUNK document numbers; a
 * term has one block for each chunk in which it occurs: the chunk number and the count (16 bits each), the offsets of
 * the documents in the chunk (16 bits each, ascending) and their impacts (8 bits each).
 */
export const CHUNK = 4096;

const HEADER_BYTES = 4;
const POSTING_BYTES = 3;

/** The number of documents in `blocks` blocks of `bytes` bytes in total. */
export function documentsIn(bytes: number, blocks: number): number {
  return (bytes - blocks * HEADER_BYTES) / POSTING_BYTES;
}

/** Encodes a changed posting for `updateBlock`. Impact 0 removes it. */
export function posting(document_no: number, impact: number): number {
  return (document_no % CHUNK) * 256 + impact;
}

const newPlaces = new Uint16Array(CHUNK);
const newImpacts = new Uint8Array(CHUNK);

/** A block after the changes, at most one per document. Returns an empty Buffer if no postings are left. */
export function updateBlock(chunk_no: number, before: Buffer | undefined, changes: readonly number[]): Buffer {
  const sorted = [...changes].sort((a, b) => a - b);
  const oldCount = before?.readUInt16LE(2) ?? 0;
  let count = 0;
  let old = 0;
  const keepUpTo = (place: number) => {
    for (; before && old < oldCount; old += 1) {
      const oldPlace = before.readUInt16LE(HEADER_BYTES + 2 * old);
      if (oldPlace > place) return;
      if (oldPlace < place) add(oldPlace, before[HEADER_BYTES + 2 * oldCount + old] as number);
    }
  };
  const add = (place: number, impact: number) => {
    newPlaces[count] = place;
    newImpacts[count] = impact;
    count += 1;
  };
  for (const change of sorted) {
    const place = change >> 8;
    keepUpTo(place);
    if ((change & 255) > 0) add(place, change & 255);
  }
  keepUpTo(CHUNK);
  if (count === 0) return Buffer.alloc(0);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + count * POSTING_BYTES);
  bytes.writeUInt16LE(chunk_no, 0);
  bytes.writeUInt16LE(count, 2);
  for (let i = 0; i < count; i += 1) bytes.writeUInt16LE(newPlaces[i] as number, HEADER_BYTES + 2 * i);
  bytes.set(newImpacts.subarray(0, count), HEADER_BYTES + 2 * count);
  return bytes;
}

/** Calls `each` for the postings of concatenated blocks, in the order of document numbers. */
export function readBlocks(bytes: Buffer, each: (document_no: number, impact: number) => void): void {
  let at = 0;
  while (at < bytes.length) {
    const first = bytes.readUInt16LE(at) * CHUNK;
    const count = bytes.readUInt16LE(at + 2);
    const places = at + HEADER_BYTES;
    const impacts = places + 2 * count;
    for (let i = 0; i < count; i += 1) {
      const place = (bytes[places + 2 * i] as number) | ((bytes[places + 2 * i + 1] as number) << 8);
      each(first + place, bytes[impacts + i] as number);
    }
    at = impacts + count;
  }
}

/**
 * Adds each document's impact times `weight` to its score. Like `readBlocks`,
 * without a call for each posting.
 */
export function addImpacts(bytes: Buffer, weight: number, scores: Float32Array): void {
  let at = 0;
  while (at < bytes.length) {
    const first = ((bytes[at] as number) | ((bytes[at + 1] as number) << 8)) * CHUNK;
    const count = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8);
    const impacts = at + HEADER_BYTES + 2 * count;
    for (let i = 0, place = at + HEADER_BYTES; i < count; i += 1, place += 2) {
      const no = first + ((bytes[place] as number) | ((bytes[place + 1] as number) << 8));
      scores[no] = (scores[no] as number) + weight * (bytes[impacts + i] as number);
    }
    at = impacts + count;
  }
}
