import { stopping } from '../../core/errors.ts';
import { FairQueue } from '../../core/queue/fair-queue.ts';

/** How many heavy requests of a tenant run at once in a process, and how many may wait. */
const RUNNING_MAX = 2;
const WAITING = { tenant: 256, all: Number.POSITIVE_INFINITY, what: 'searches at once' };

/**
 * Requests whose work keeps the event loop and the database busy, such as searches. A request of another tenant waits for what
 * runs before its own turn of the event loop, so of each tenant only few run at once. Errors of `enter`: 429 `rate_limited`
 * where too many of the tenant wait, and 503 when the process stops.
 */
export function openHeavyRequests(): FairQueue {
  return new FairQueue({ tenant: RUNNING_MAX, all: Number.POSITIVE_INFINITY, waiting: WAITING, refusal: stopping });
}
