import type { Readable } from 'node:stream';

/** A message between the service and a confined process: a JSON header, and a body that the header describes. */
export interface Frame {
  header: unknown;
  body: Buffer;
}

/** Encodes a frame: the lengths of header and body (32 bits each, little-endian), the header, the body. */
export function frameOf(header: unknown, body: readonly Uint8Array[] = []): Buffer {
  const bodyLength = body.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([frameHead(header, bodyLength), ...body]);
}

/** Encodes the lengths and the header of a frame with a body of `bodyLength` bytes. */
export function frameHead(header: unknown, bodyLength: number): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(json.length, 0);
  lengths.writeUInt32LE(bodyLength, 4);
  return Buffer.concat([lengths, json]);
}

/** Yields the frames of a stream in order. Throws if a frame is longer than `max` bytes, before receiving all of it. */
export async function* framesOf(stream: Readable, max: number): AsyncGenerator<Frame> {
  let chunks: Buffer[] = [];
  let held = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    held += (chunk as Buffer).length;
    for (;;) {
      if (held < 8) break;
      if ((chunks[0]?.length ?? 0) < 8) chunks = [Buffer.concat(chunks)];
      const [first = Buffer.alloc(0)] = chunks;
      const headerLength = first.readUInt32LE(0);
      const length = 8 + headerLength + first.readUInt32LE(4);
      if (length > max) throw new Error('a frame exceeds the maximum length');
      if (held < length) break;
      const all = Buffer.concat(chunks);
      yield {
        header: JSON.parse(all.toString('utf8', 8, 8 + headerLength)),
        body: all.subarray(8 + headerLength, length),
      };
      chunks = [all.subarray(length)];
      held -= length;
    }
  }
}
