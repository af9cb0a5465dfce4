/**
 * Which documents hold a term, as bytes: for each CHUNK documents that hold it one block of the block's number and count
 * (16 bits each), the documents' places in it (16 bits each, ascending) and their impacts (8 bits each).
 */
export const CHUNK = 4096;

const HEADER_BYTES = 4;
const POSTING_BYTES = 3;

/** Impacts by place in the block. */
export type Block = Map<number, number>;

/** How many documents so many bytes in so many blocks stand for. */
export function documentsIn(bytes: number, blocks: number): number {
  return (bytes - blocks * HEADER_BYTES) / POSTING_BYTES;
}

export function encodeBlock(chunk_no: number, block: Block): Buffer {
  const places = [...block.keys()].sort((a, b) => a - b);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + places.length * POSTING_BYTES);
  bytes.writeUInt16LE(chunk_no, 0);
  bytes.writeUInt16LE(places.length, 2);
  for (const [i, place] of places.entries()) {
    bytes.writeUInt16LE(place, HEADER_BYTES + 2 * i);
    bytes[HEADER_BYTES + 2 * places.length + i] = block.get(place) ?? 0;
  }
  return bytes;
}

/** One or several blocks one after the other, each posting in the order of the documents. */
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

/** Adds each document's impact, times a weight, to its score. As readBlocks, without a call for each posting. */
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

export function decodeBlock(bytes: Buffer): Block {
  const block: Block = new Map();
  readBlocks(bytes, (document_no, impact) => block.set(document_no % CHUNK, impact));
  return block;
}
