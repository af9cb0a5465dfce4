import { monitorEventLoopDelay } from 'node:perf_hooks';
import { ApiError } from '../../core/errors.ts';

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

const SAMPLE_MS = 20;
const WINDOW_MS = 2_000;
/** A loop is late if it was in each of the last windows: a single pause is over when it is noticed. */
const LATE_WINDOWS = 3;

/** Refuses requests early while the process has more to do than it can. */
export interface LoadShedding {
  /** Counts a request in. `canWait`: it is refused before others are. Errors: 503 `overloaded`. */
  enter(canWait: boolean): void;
  leave(): void;
  stop(): void;
}

/** Whether a request is refused under this load. */
export function isShed({ requests, delay_ms }: Load, canWait: boolean): boolean {
  const limit = canWait ? SHED_LIMITS.first : SHED_LIMITS.all;
  return requests >= limit.requests || delay_ms > limit.delay_ms;
}

export function openLoadShedding(): LoadShedding {
  const load: Load = { requests: 0, delay_ms: 0 };
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
    enter(canWait) {
      if (isShed(load, canWait)) {
        throw new ApiError('overloaded', 'The service has more to do just now than it can. Try again in a moment.');
      }
      load.requests += 1;
    },
    leave() {
      load.requests -= 1;
    },
    stop() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
