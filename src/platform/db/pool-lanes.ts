import { overloaded } from '../core/errors.ts';
import { FairQueue, type QueueUsage, type Turn } from '../core/queue/fair-queue.ts';
import { openConnectionTime } from './connection-time.ts';
import { SERVICE_ITSELF } from './known-tenants.ts';
import { laneLimits, type PoolLane } from './lane-limits.ts';

export interface PoolLanes {
  /**
   * Returns a turn, immediately if possible, otherwise when the tenant's turn comes. Throws 429 `rate_limited` if too
   * many requests of the tenant are waiting; 503 `overloaded` if too many are waiting in the lane, or this one has
   * waited too long; the abort reason of the signal from `abandoned`, which is only called after some time.
   */
  enter(lane: PoolLane, tenant: string, abandoned?: () => AbortSignal): Turn | Promise<Turn>;
  leave(turn: Turn): void;
  usage(lane: PoolLane): Readonly<QueueUsage>;
  /**
   * From now on refuses requests that wait, or would have to, with 503 `overloaded`. Jobs and the service itself
   * continue.
   */
  refuseWaiting(): void;
}

/** Most requests wait less than this. A timer and a signal for each would cost more than its turn. */
const WATCH_AFTER_MS = 50;

/** Maximum number of waiting requests: in a lane, and per tenant in a lane. */
const WAITING = { all: 1_000, tenant: 256, what: 'requests at once' };

const NAMES: readonly PoolLane[] = ['reads', 'writes', 'jobs'];

/**
 * Decides who may take a connection of the pool, so that no kind of work and no tenant takes them all. Each lane has a
 * maximum and some connections reserved for it. Each tenant has a maximum per lane, which is lower while the tenant
 * uses much and others are active. Requests queue here without holding a connection; tenants with the least recent
 * usage go first.
 */
export function openPoolLanes(connections: number): PoolLanes {
  const limits = laneLimits(connections);
  const time = openConnectionTime();
  const lanes: Record<PoolLane, FairQueue> = { reads: open('reads'), writes: open('writes'), jobs: open('jobs') };
  const { reads, writes, jobs } = lanes;

  function open(lane: PoolLane): FairQueue {
    const { most, tenant, heavy, wait_ms } = limits[lane];
    return new FairQueue({
      tenant,
      all: most,
      waiting: WAITING,
      waitMs: wait_ms,
      watchAfterMs: WATCH_AFTER_MS,
      refusal: overloaded,
      rules: {
        hasRoom: () => hasRoom(lane),
        mayRun: (name, running, now) =>
          running < heavy ||
          name === SERVICE_ITSELF ||
          time.average(name, now) <= heavy ||
          !time.isOtherActive(name, now),
        spent: time.average,
        onStart: time.take,
        onRoom(now) {
          for (const each of NAMES) lanes[each].serve(now);
        },
      },
    });
  }

  /** Returns the number of connections to keep free for a lane. */
  const unused = (lane: PoolLane) => Math.max(0, limits[lane].kept - lanes[lane].usage.used);

  function hasRoom(lane: PoolLane): boolean {
    if (lanes[lane].usage.used >= limits[lane].most) return false;
    const used = reads.usage.used + writes.usage.used + jobs.usage.used;
    return used + unused('reads') + unused('writes') + unused('jobs') - unused(lane) < connections;
  }

  return {
    enter(lane, name, abandoned) {
      // Jobs and the service itself have no waiting client.
      if (lane !== 'jobs' && name !== SERVICE_ITSELF) time.ask(name, performance.now());
      return lanes[lane].enter(name, abandoned);
    },
    leave(turn) {
      time.giveBack(turn.tenant, performance.now());
      turn.queue.leave(turn);
    },
    usage: (lane) => lanes[lane].usage,
    refuseWaiting() {
      for (const lane of [reads, writes]) lane.refuseWaiting(SERVICE_ITSELF);
    },
  };
}
