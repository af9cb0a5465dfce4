import { createHash } from 'node:crypto';
import { pipeline, type Transform } from 'node:stream';

export type Content = AsyncIterable<Uint8Array>;

/** The expected or actual hash and size of an object's stored bytes. */
export interface Stored {
  sha256: string;
  byte_size: number;
}

/** Hashes and counts a stream that passes through. */
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
    /** Returns the measurement; call once, after the whole stream has passed. */
    result: (): Stored => ({ sha256: hash.digest('hex'), byte_size }),
  };
}

/** Pipes content through a transform, such as a compressor. Errors of either surface in the result. */
export function through(content: Content, transform: Transform): Content {
  pipeline(content, transform, () => undefined);
  return transform;
}
