import type { ConnectionTime } from './connection-time.ts';
import { SERVICE_ITSELF } from './known-tenants.ts';
import type { LaneLimits, PoolLane } from './lane-limits.ts';

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

/** A request that waits for its turn. */
export interface Waiter {
  since: number;
  start(slot: Slot): void;
  /** Ends the wait without a slot. */
  giveUp(reason: unknown): void;
  /** Begins to watch what ends the wait. */
  watch(): void;
  /** Undoes what would end the wait; undefined where nothing does yet. */
  stopWatching: (() => void) | undefined;
  isOver: boolean;
}

export interface Tenant {
  used: number;
  waiting: Waiter[];
}

/** The slots of one kind of work, and who waits for one. */
export class Lane {
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
    waiter.isOver = true;
    waiter.stopWatching?.();
    tenant.waiting.splice(tenant.waiting.indexOf(waiter), 1);
    this.usage.waiting -= 1;
  }

  forgetIfIdle(name: string, tenant: Tenant): void {
    if (tenant.used === 0 && tenant.waiting.length === 0) this.tenants.delete(name);
  }
}
