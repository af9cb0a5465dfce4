import { stopping } from '../../core/errors.ts';
import { FairQueue } from '../../core/queue/fair-queue.ts';

/** Heavy requests of one tenant that may run at once in a process, and that may wait. */
const RUNNING_MAX = 2;
const WAITING = { tenant: 256, all: Number.POSITIVE_INFINITY, what: 'searches at once' };

/**
 * Queue for requests that keep the event loop and the database busy, such as searches. Running them delays requests of
 * other tenants, so only a few per tenant run at once. `enter` throws 429 `rate_limited` if too many requests of the
 * tenant wait, and 503 when the process stops.
 */
export function openHeavyRequests(): FairQueue {
  return new FairQueue({ tenant: RUNNING_MAX, all: Number.POSITIVE_INFINITY, waiting: WAITING, refusal: stopping });
}
