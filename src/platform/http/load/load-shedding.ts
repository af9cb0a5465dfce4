import { monitorEventLoopDelay } from 'node:perf_hooks';
import { overloaded } from '../../core/errors.ts';

/** How the process is loaded: how many requests it is working on, and how late its event loop has been for seconds. */
interface Load {
  requests: number;
  delay_ms: number;
}

/** From which load on requests are refused: those that can wait, and then all. */
export const SHED_LIMITS = {
  first: { requests: 500, delay_ms: 500 },
  all: { requests: 2_000, delay_ms: 5_000 },
} as const;

/**
 * As many requests in progress of one tenant count for the others: most of a thousand wait for a body that is sent slowly, which
 * takes no work from others.
 */
const COUNTED_OF_TENANT = 100;

const SAMPLE_MS = 20;
const WINDOW_MS = 2_000;
/** A loop is late if it was in each of the last windows: a single pause is over when it is noticed. */
const LATE_WINDOWS = 3;

/** Refuses requests early while the process has more to do than it can, and first those of the tenants that caused it. */
export interface LoadShedding {
  /**
   * Counts a request of a tenant in, and returns what must be called once when it is over. `canWait`: it is refused before
   * others are. Errors: 503 `overloaded`.
   */
  enter(tenant: string, canWait: boolean): () => void;
  stop(): void;
}

/**
 * Whether a request is refused under this load. Tenants with fewer requests in progress than the average are refused at twice
 * the limits only.
 */
export function isShed({ requests, delay_ms }: Load, canWait: boolean, isBelowAverage = false): boolean {
  const limit = canWait ? SHED_LIMITS.first : SHED_LIMITS.all;
  const factor = isBelowAverage ? 2 : 1;
  return requests >= factor * limit.requests || delay_ms > factor * limit.delay_ms;
}

export function openLoadShedding(): LoadShedding {
  const load: Load = { requests: 0, delay_ms: 0 };
  /** The number of requests in progress of each tenant that has any. */
  const tenants = new Map<string, number>();
  const recent: number[] = new Array(LATE_WINDOWS).fill(0);
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  delays.enable();
  const timer = setInterval(() => {
    // Without a sample the loop was not late.
    recent.push(delays.count === 0 ? 0 : delays.mean / 1e6 - SAMPLE_MS);
    recent.shift();
    load.delay_ms = Math.min(...recent);
    delays.reset();
  }, WINDOW_MS);
  timer.unref();
  return {
    enter(tenant, canWait) {
      const own = tenants.get(tenant) ?? 0;
      const isBelowAverage = own < load.requests / (tenants.size + (own === 0 ? 1 : 0));
      const uncounted = Math.max(0, own - COUNTED_OF_TENANT);
      if (isShed({ ...load, requests: load.requests + uncounted }, canWait, isBelowAverage)) {
        throw overloaded();
      }
      if (own < COUNTED_OF_TENANT) load.requests += 1;
      tenants.set(tenant, own + 1);
      return () => {
        const left = (tenants.get(tenant) ?? 0) - 1;
        if (left < COUNTED_OF_TENANT) load.requests -= 1;
        if (left > 0) tenants.set(tenant, left);
        else tenants.delete(tenant);
      };
    },
    stop() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
