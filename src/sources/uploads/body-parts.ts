import type { Readable } from 'node:stream';

/** A body that is read piece by piece. */
export interface BodyParts {
  /** Whether bytes are left; waits for the next ones. False too where the connection broke: see `failure`. */
  hasMore(): Promise<boolean>;
  /** The next bytes, `most` at most; fewer where the body ends, in whatever way. */
  next(most: number): AsyncGenerator<Buffer>;
  /** Why the body ended before its time; undefined where it did not. */
  failure(): unknown;
}

/** What arrived before a connection broke is kept, so a broken connection ends the parts and does not fail their reader. */
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
