import { ApiError, rateLimited } from '../core/errors.ts';
import { openConnectionTime } from './connection-time.ts';
import { SERVICE_ITSELF } from './known-tenants.ts';
import { Lane, type LaneUsage, type Slot, type Tenant, type Waiter } from './lane.ts';
import { laneLimits, type PoolLane } from './lane-limits.ts';

export interface PoolLanes {
  /**
   * A slot, at once if there is one; otherwise when it is the tenant's turn. Errors: 429 `rate_limited` if too many
   * requests of the tenant wait already; 503 `overloaded` if too many wait in the lane, or this one has waited too long;
   * the reason of `abandoned`, which is asked for only by what has to wait for some time, when that is aborted.
   */
  enter(lane: PoolLane, tenant: string, abandoned?: () => AbortSignal): Slot | Promise<Slot>;
  /** Gives the slot back. */
  leave(slot: Slot): void;
  usage(lane: PoolLane): Readonly<LaneUsage>;
  /** From now on no request waits: those that do are refused with 503 `overloaded`. Jobs and the service itself go on. */
  refuseWaiting(): void;
}

/**
 * How often those that wait are watched from then on, for the end of their time and of their request. Most wait shorter, and
 * a timer and a signal for each would cost more than its turn.
 */
const WATCH_EVERY_MS = 50;

/** Maximum number that waits in a lane, and for one tenant in a lane. */
const WAITING_MAX = 1_000;
const TENANT_WAITING_MAX = 256;

const NAMES: readonly PoolLane[] = ['reads', 'writes', 'jobs'];

/**
 * Decides who may take a connection of the pool, so that no kind of work and no tenant takes them all: each lane has a
 * maximum and some connections that no other lane takes, and each tenant has a maximum in its lane, which is lower while it
 * uses much and others are active. Who has to wait waits here, and holds nothing; those who used little go first.
 */
export function openPoolLanes(connections: number): PoolLanes {
  const limits = laneLimits(connections);
  const time = openConnectionTime();
  const lanes: Record<PoolLane, Lane> = {
    reads: new Lane('reads', limits.reads, time),
    writes: new Lane('writes', limits.writes, time),
    jobs: new Lane('jobs', limits.jobs, time),
  };
  const { reads, writes, jobs } = lanes;
  const watchLater = openWatch();
  let refusesWaiting = false;

  function hasRoom(lane: Lane): boolean {
    if (lane.usage.used >= lane.limits.most) return false;
    const used = reads.usage.used + writes.usage.used + jobs.usage.used;
    return used + reads.unused + writes.unused + jobs.unused - lane.unused < connections;
  }

  function wait(
    lane: Lane,
    name: string,
    tenant: Tenant = { used: 0, waiting: [] },
    abandoned: (() => AbortSignal) | undefined,
  ): Promise<Slot> {
    if (refusesWaiting && lane !== jobs && name !== SERVICE_ITSELF) throw overloaded();
    const isTenantFull = tenant.waiting.length >= TENANT_WAITING_MAX;
    if (isTenantFull || lane.usage.waiting >= WAITING_MAX) {
      lane.usage.refused += 1;
      throw isTenantFull ? rateLimited(2, 'requests at once') : overloaded();
    }
    lane.tenants.set(name, tenant);
    lane.usage.waiting += 1;
    if (hasRoom(lane)) lane.usage.share_waits += 1;
    else lane.usage.waits += 1;
    return new Promise((start, reject) => {
      const giveUp = (reason: unknown) => {
        lane.remove(tenant, waiter);
        lane.forgetIfIdle(name, tenant);
        lane.usage.refused += 1;
        reject(reason);
      };
      const watch = () => {
        const signal = abandoned?.();
        if (signal?.aborted) return giveUp(signal.reason);
        const leave = () => giveUp(signal?.reason);
        const left = waiter.since + lane.limits.wait_ms - performance.now();
        const timer = setTimeout(() => giveUp(overloaded()), left).unref();
        signal?.addEventListener('abort', leave, { once: true });
        waiter.stopWatching = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
        };
      };
      const waiter: Waiter = { since: performance.now(), start, giveUp, watch, stopWatching: undefined, isOver: false };
      tenant.waiting.push(waiter);
      watchLater(waiter);
    });
  }

  return {
    enter(lane, name, abandoned) {
      const now = performance.now();
      const own = lanes[lane];
      const tenant = own.tenants.get(name);
      // Jobs and the service itself do not wait for an answer.
      if (lane !== 'jobs' && name !== SERVICE_ITSELF) time.ask(name, now);
      if (hasRoom(own) && (!tenant || own.mayTake(name, tenant, now))) return own.take(name, tenant, now);
      return wait(own, name, tenant, abandoned);
    },
    leave({ lane, tenant: name, since }) {
      const now = performance.now();
      const { tenants, usage } = lanes[lane];
      usage.used -= 1;
      usage.held_seconds += (now - since) / 1_000;
      time.giveBack(name, now);
      const tenant = tenants.get(name);
      if (tenant) {
        tenant.used -= 1;
        lanes[lane].forgetIfIdle(name, tenant);
      }
      for (const each of NAMES) {
        while (lanes[each].usage.waiting > 0 && hasRoom(lanes[each]) && lanes[each].startNext(now));
      }
    },
    usage: (lane) => lanes[lane].usage,
    refuseWaiting() {
      refusesWaiting = true;
      for (const { tenants } of [reads, writes]) {
        for (const [name, { waiting }] of [...tenants]) {
          if (name !== SERVICE_ITSELF) for (const waiter of [...waiting]) waiter.giveUp(overloaded());
        }
      }
    },
  };
}

/** Returns what has a waiter watched, if it still waits then, within `WATCH_EVERY_MS`. */
function openWatch(): (waiter: Waiter) => void {
  let unwatched: Waiter[] = [];

  function watchAll(): void {
    const waiters = unwatched;
    unwatched = [];
    for (const waiter of waiters) if (!waiter.isOver) waiter.watch();
  }

  return (waiter) => {
    if (unwatched.push(waiter) === 1) setTimeout(watchAll, WATCH_EVERY_MS).unref();
  };
}

function overloaded(): ApiError {
  return new ApiError('overloaded', 'The service has more to do just now than it can. Try again in a moment.');
}
