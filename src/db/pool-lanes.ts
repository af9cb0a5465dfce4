import { ApiError, rateLimited } from '../core/errors.ts';
import { type ConnectionTime, openConnectionTime } from './connection-time.ts';
import { SERVICE_ITSELF } from './known-tenants.ts';
import { type LaneLimits, laneLimits, type PoolLane } from './lane-limits.ts';

/** A place in a lane, from the permission to take a connection until the connection is back. */
export interface Slot {
  lane: PoolLane;
  tenant: string;
  /** On the clock of performance.now(). */
  since: number;
}

/** What a lane has done so far, and what it does now. */
export interface LaneUsage {
  used: number;
  waiting: number;
  /** How many had to wait because no connection was free for the lane. */
  waits: number;
  /** How many had to wait because their tenant used all that it may. */
  share_waits: number;
  /** How long was waited, in either case. */
  wait_seconds: number;
  /** How many were refused, because the queue was full or they had waited too long. */
  refused: number;
  /** For how many seconds connections were held. */
  held_seconds: number;
}

export interface PoolLanes {
  /**
   * A slot, at once if there is one; otherwise when it is the tenant's turn. Errors: 429 `rate_limited` if too many
   * requests of the tenant wait already; 503 `overloaded` if too many wait in the lane, or this one has waited too long;
   * the reason of `abandoned`, which is asked for only by what has to wait, when that is aborted.
   */
  enter(lane: PoolLane, tenant: string, abandoned?: () => AbortSignal): Slot | Promise<Slot>;
  /** Gives the slot back. */
  leave(slot: Slot): void;
  usage(lane: PoolLane): Readonly<LaneUsage>;
}

/** Maximum number that waits in a lane, and for one tenant in a lane. */
const WAITING_MAX = 1_000;
const TENANT_WAITING_MAX = 256;

const NAMES: readonly PoolLane[] = ['reads', 'writes', 'jobs'];

interface Waiter {
  since: number;
  start(slot: Slot): void;
  /** Undoes what would end the wait. */
  stopWatching(): void;
}

interface Tenant {
  used: number;
  waiting: Waiter[];
}

class Lane {
  readonly name: PoolLane;
  readonly limits: LaneLimits;
  readonly usage: LaneUsage = {
    used: 0,
    waiting: 0,
    waits: 0,
    share_waits: 0,
    wait_seconds: 0,
    refused: 0,
    held_seconds: 0,
  };
  /** Those that use or want connections, the one served longest ago first. */
  readonly tenants = new Map<string, Tenant>();
  readonly time: ConnectionTime;

  constructor(name: PoolLane, limits: LaneLimits, time: ConnectionTime) {
    this.name = name;
    this.limits = limits;
    this.time = time;
  }

  /** Whether the tenant may take one more connection. */
  mayTake(name: string, { used }: Tenant, now: number): boolean {
    const { tenant, heavy } = this.limits;
    if (used >= tenant) return false;
    return (
      used < heavy ||
      name === SERVICE_ITSELF ||
      this.time.average(name, now) <= heavy ||
      !this.time.isOtherActive(name, now)
    );
  }

  /** How many connections are kept free for this lane. */
  get unused(): number {
    return Math.max(0, this.limits.kept - this.usage.used);
  }

  /** Takes a slot for the tenant, which has room. */
  take(name: string, tenant: Tenant | undefined, now: number): Slot {
    this.usage.used += 1;
    if (tenant) tenant.used += 1;
    else this.tenants.set(name, { used: 1, waiting: [] });
    this.time.take(name, now);
    return { lane: this.name, tenant: name, since: now };
  }

  /** Starts the first waiter of the tenant whose turn it is; false if none has room. */
  startNext(now: number): boolean {
    const name = this.nextTenant(now);
    const tenant = name === undefined ? undefined : this.tenants.get(name);
    const [first] = tenant?.waiting ?? [];
    if (name === undefined || !tenant || !first) return false;
    this.tenants.delete(name);
    this.tenants.set(name, tenant);
    this.remove(tenant, first);
    this.usage.wait_seconds += (now - first.since) / 1_000;
    first.start(this.take(name, tenant, now));
    return true;
  }

  /** Of those that wait and have room, the tenant that has used the least connection time lately. */
  nextTenant(now: number): string | undefined {
    let least: string | undefined;
    let average = Number.POSITIVE_INFINITY;
    for (const [name, tenant] of this.tenants) {
      if (tenant.waiting.length === 0 || !this.mayTake(name, tenant, now)) continue;
      const own = this.time.average(name, now);
      if (own >= average) continue;
      least = name;
      average = own;
    }
    return least;
  }

  remove(tenant: Tenant, waiter: Waiter): void {
    waiter.stopWatching();
    tenant.waiting.splice(tenant.waiting.indexOf(waiter), 1);
    this.usage.waiting -= 1;
  }
}

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
    const isTenantFull = tenant.waiting.length >= TENANT_WAITING_MAX;
    if (isTenantFull || lane.usage.waiting >= WAITING_MAX) {
      lane.usage.refused += 1;
      throw isTenantFull ? rateLimited(2, 'requests at once') : overloaded();
    }
    const signal = abandoned?.();
    signal?.throwIfAborted();
    lane.tenants.set(name, tenant);
    lane.usage.waiting += 1;
    if (hasRoom(lane)) lane.usage.share_waits += 1;
    else lane.usage.waits += 1;
    return new Promise((start, reject) => {
      const giveUp = (reason: unknown) => {
        lane.remove(tenant, waiter);
        forgetIfIdle(lane, name, tenant);
        lane.usage.refused += 1;
        reject(reason);
      };
      const leave = () => giveUp(signal?.reason);
      const timer = setTimeout(() => giveUp(overloaded()), lane.limits.wait_ms).unref();
      signal?.addEventListener('abort', leave, { once: true });
      const stopWatching = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      const waiter = { since: performance.now(), start, stopWatching };
      tenant.waiting.push(waiter);
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
        forgetIfIdle(lanes[lane], name, tenant);
      }
      for (const each of NAMES) {
        while (lanes[each].usage.waiting > 0 && hasRoom(lanes[each]) && lanes[each].startNext(now));
      }
    },
    usage: (lane) => lanes[lane].usage,
  };
}

function forgetIfIdle(lane: Lane, name: string, tenant: Tenant): void {
  if (tenant.used === 0 && tenant.waiting.length === 0) lane.tenants.delete(name);
}

function overloaded(): ApiError {
  return new ApiError('overloaded', 'The service has more to do just now than it can. Try again in a moment.');
}
