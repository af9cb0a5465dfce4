import { createHash } from 'node:crypto';
import { pipeline, type Transform } from 'node:stream';

export type Content = AsyncIterable<Uint8Array>;

/** What an object was found to be, or is to be: the hash and size of its bytes, as they are stored. */
export interface Stored {
  sha256: string;
  byte_size: number;
}

/** Hashes and counts what passes. */
export function measure() {
  const hash = createHash('sha256');
  let byte_size = 0;
  return {
    async *of(content: Content): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        hash.update(chunk);
        byte_size += chunk.length;
        yield chunk;
      }
    },
    /** To be asked once, when all has passed. */
    result: (): Stored => ({ sha256: hash.digest('hex'), byte_size }),
  };
}

/** What a transform, such as a compressor, makes of the content; an error of either is one of the result. */
export function through(content: Content, transform: Transform): Content {
  pipeline(content, transform, () => undefined);
  return transform;
}
