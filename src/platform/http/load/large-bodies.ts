import { stopping } from '../../core/errors.ts';
import { FairQueue } from '../../core/queue/fair-queue.ts';

/** Smaller bodies are read and decoded at once. */
export const LARGE_BYTES = 65_536;

/** How much of large bodies a tenant and the process work on at a time, in bytes, from their first byte until the answer. */
const TENANT_BYTES = 4 * 2 ** 20;
const ALL_BYTES = 32 * 2 ** 20;

/** After each body, other requests have this many times as long as it was decoded: receiving it took time, too. */
const PAUSE_FACTOR = 4;

/** How many requests may wait, of a tenant and in all, and for how long. */
const WAITING = { tenant: 256, all: 1_000, what: 'large requests at once' };
const WAIT_MS = 30_000;

/**
 * Large bodies of JSON take turns of tenants, so that many of them neither fill the memory nor keep the event loop from other
 * requests.
 */
export interface LargeBodies {
  /**
   * Waits until the body may be read, and returns what must be called when its request has ended. Errors: 429
   * `rate_limited` or 503 `overloaded` where too many wait, or this one has waited too long; the reason of `gone`.
   */
  enter(tenant: string, bytes: number, gone: AbortSignal): Promise<() => void>;
  /**
   * Runs synchronous work on a large body: one at a time, and after each a pause for other requests, fair by tenant in time.
   */
  inTurn<T>(tenant: string, work: () => T): Promise<T>;
  /** Fails what waits, and what would have to wait later, with 503: the process stops. */
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
  /** One work at a time, and after each a pause. */
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
