import type { Readable } from 'node:stream';

/** A request body that is read in pieces. */
export interface BodyParts {
  /**
   * Waits for the next bytes; returns whether there are any. Also returns false if the connection broke: see `failure`.
   */
  hasMore(): Promise<boolean>;
  /** Yields up to `most` bytes; fewer if the body ends or the connection breaks. */
  next(most: number): AsyncGenerator<Buffer>;
  /** Returns the error that ended the body early, or undefined. */
  failure(): unknown;
}

/** A broken connection ends the body instead of throwing, so that the caller can keep the bytes read before. */
export function bodyParts(body: Readable): BodyParts {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  let held: Buffer | undefined;
  let failure: unknown;
  let isOver = false;

  async function hasMore(): Promise<boolean> {
    while (!held && !isOver) {
      try {
        const { done, value } = await chunks.next();
        if (done) isOver = true;
        else if (value.length > 0) held = value;
      } catch (error) {
        failure = error;
        isOver = true;
      }
    }
    return held !== undefined;
  }

  return {
    hasMore,
    async *next(most) {
      let left = most;
      while (left > 0 && (await hasMore())) {
        const chunk = held as Buffer;
        held = chunk.length > left ? chunk.subarray(left) : undefined;
        const taken = chunk.subarray(0, left);
        left -= taken.length;
        yield taken;
      }
    },
    failure: () => failure,
  };
}
