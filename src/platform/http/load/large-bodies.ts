import { stopping } from '../../core/errors.ts';
import { FairQueue } from '../../core/queue/fair-queue.ts';

/** Smaller bodies are read and decoded immediately. */
export const LARGE_BYTES = 65_536;

/**
 * Bytes of large bodies that a tenant and the process may hold at a time, from the first byte of the body until the
 * response.
 */
const TENANT_BYTES = 4 * 2 ** 20;
const ALL_BYTES = 32 * 2 ** 20;

/** After each body, other requests get this many times its decoding time, because receiving it took time too. */
const PAUSE_FACTOR = 4;

/** Requests that may wait, per tenant and in total, and how long. */
const WAITING = { tenant: 256, all: 1_000, what: 'large requests at once' };
const WAIT_MS = 30_000;

/**
 * Lets tenants take turns with large JSON bodies, so that many of them neither fill the memory nor block the event
 * loop.
 */
export interface LargeBodies {
  /**
   * Waits until the body may be read. Returns a function to be called when the request has ended. Throws 429
   * `rate_limited` or 503 `overloaded` if too many requests wait or this one has waited too long, and the reason of
   * `gone`.
   */
  enter(tenant: string, bytes: number, gone: AbortSignal): Promise<() => void>;
  /**
   * Runs synchronous work on a large body when no other such work runs, then pauses for other requests. Tenants with
   * the least time used go first.
   */
  inTurn<T>(tenant: string, work: () => T): Promise<T>;
  /**
   * Fails queued requests, and from now on requests that would have to queue, with 503, because the process is
   * stopping.
   */
  refuseWaiting(): void;
}

export function openLargeBodies(): LargeBodies {
  const bodies = new FairQueue({
    tenant: TENANT_BYTES,
    all: ALL_BYTES,
    waiting: WAITING,
    waitMs: WAIT_MS,
    refusal: stopping,
  });
  /** Runs one task at a time with a pause after each. */
  const turns = new FairQueue({ tenant: 1, all: 1, refusal: stopping });
  return {
    async enter(tenant, bytes, gone) {
      gone.throwIfAborted();
      const turn = await bodies.enter(tenant, () => gone, { cost: bytes });
      let isOver = false;
      return () => {
        if (!isOver) bodies.leave(turn);
        isOver = true;
      };
    },
    async inTurn(tenant, work) {
      const entered = turns.enter(tenant);
      const turn = entered instanceof Promise ? await entered : entered;
      const began = performance.now();
      try {
        return work();
      } finally {
        const ms = performance.now() - began;
        setTimeout(() => turns.leave(turn, ms), ms * PAUSE_FACTOR);
      }
    },
    refuseWaiting() {
      bodies.refuseWaiting();
      turns.refuseWaiting();
    },
  };
}
