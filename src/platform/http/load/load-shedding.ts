import { monitorEventLoopDelay } from 'node:perf_hooks';
import { overloaded } from '../../core/errors.ts';

/** Load of the process: requests in progress, and the least delay of its event loop in the last windows. */
interface Load {
  requests: number;
  delay_ms: number;
}

/** Loads from which requests are refused: first requests that can wait, then all. */
export const SHED_LIMITS = {
  first: { requests: 500, delay_ms: 500 },
  all: { requests: 2_000, delay_ms: 5_000 },
} as const;

/**
 * At most this many requests of one tenant add to the load of other tenants. Of a thousand requests, most wait for a
 * body that is sent slowly, which takes no capacity from others.
 */
const COUNTED_OF_TENANT = 100;

const SAMPLE_MS = 20;
const WINDOW_MS = 2_000;
/**
 * The loop counts as late if it was late in each of the last windows, because a single pause is over once it is
 * noticed.
 */
const LATE_WINDOWS = 3;

/** Refuses requests early when the process is overloaded, and first the requests of the tenants that cause it. */
export interface LoadShedding {
  /**
   * Counts a request of a tenant. Returns a function to be called once when the request is over. Requests with
   * `canWait` are refused before others. Throws 503 `overloaded`.
   */
  enter(tenant: string, canWait: boolean): () => void;
  stop(): void;
}

/**
 * Returns whether a request is refused under this load. Tenants with fewer requests in progress than the average are
 * refused only at twice the limits.
 */
export function isShed({ requests, delay_ms }: Load, canWait: boolean, isBelowAverage = false): boolean {
  const limit = canWait ? SHED_LIMITS.first : SHED_LIMITS.all;
  const factor = isBelowAverage ? 2 : 1;
  return requests >= factor * limit.requests || delay_ms > factor * limit.delay_ms;
}

export function openLoadShedding(): LoadShedding {
  const load: Load = { requests: 0, delay_ms: 0 };
  /** Requests in progress by tenant; tenants without any are missing. */
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
