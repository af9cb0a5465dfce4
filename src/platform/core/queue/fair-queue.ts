import { overloaded, rateLimited } from '../errors.ts';

export interface FairQueueOptions {
  /** Maximum running cost, per tenant and in total. An entry that exceeds it runs alone. */
  tenant: number;
  all: number;
  /**
   * Maximum waiting entries: per tenant (beyond it, 429 that names `what`) and in total (beyond it, 503). Unlimited if
   * undefined.
   */
  waiting?: { tenant: number; all: number; what: string };
  /** Maximum time to wait; after it, 503. */
  waitMs?: number;
  /** Delay before a waiting entry gets its timer and abort listener. Most entries start earlier and never need them. */
  watchAfterMs?: number;
  /** Creates the error for entries refused after `refuseWaiting`. */
  refusal(): Error;
  /** Overrides the rules based on `tenant`, `all` and the spent cost. */
  rules?: FairQueueRules;
}

interface FairQueueRules {
  hasRoom(): boolean;
  mayRun(tenant: string, running: number, now: number): boolean;
  /** The tenant with the lowest value goes first. */
  spent(tenant: string, now: number): number;
  onStart(tenant: string, now: number): void;
  /** Called after an entry leaves, in place of `serve`; for queues that share a limit. */
  onRoom(now: number): void;
}

/** The requirements of an entry. Within a tenant, a lower rank goes first and equal ranks are first in, first out. */
export interface Wanted {
  cost: number;
  rank?: number;
  context?: string;
}

/** An entry between its start and `leave`. */
export interface Turn {
  queue: FairQueue;
  tenant: string;
  cost: number;
  /** In milliseconds, on the clock of performance.now(). */
  since: number;
}

/** Counters since the start, and current usage. */
export interface QueueUsage {
  /** Running cost. */
  used: number;
  waiting: number;
  /** Entries that waited because the queue was full. */
  waits: number;
  /** Entries that waited because their tenant had used up its share. */
  share_waits: number;
  /** Total time waited, for either reason. */
  wait_seconds: number;
  /** Entries refused because the queue was full, or ended while waiting: timed out, aborted or refused. */
  refused: number;
  /** Total time between start and leave. */
  held_seconds: number;
}

interface Waiter extends Wanted {
  since: number;
  start(turn: Turn): void;
  /** Ends the wait without a turn. */
  giveUp(reason: unknown): void;
  stopWatching: (() => void) | undefined;
}

interface Tenant {
  running: number;
  waiting: Waiter[];
  /** Cost reported by its entries since the tenant was last idle. */
  spent: number;
}

const ONE: Wanted = { cost: 1 };

/**
 * A queue in which tenants take turns. The tenant that has spent the least goes next; ties go to the tenant served
 * longest ago. A tenant over its share delays no other tenant.
 */
export class FairQueue {
  readonly usage: QueueUsage = {
    used: 0,
    waiting: 0,
    waits: 0,
    share_waits: 0,
    wait_seconds: 0,
    refused: 0,
    held_seconds: 0,
  };
  /** Tenants that run or wait, ordered by their last turn, oldest first. */
  private readonly tenants = new Map<string, Tenant>();
  private readonly options: FairQueueOptions;
  private unwatched: (() => void)[] = [];
  private hasCosts = false;
  private refusal: { except: string | undefined } | undefined;

  constructor(options: FairQueueOptions) {
    this.options = options;
  }

  /**
   * Returns a turn, immediately if possible, otherwise when the tenant's turn comes. Only entries that have to wait
   * call `abandoned`. Throws 429 `rate_limited`, 503 `overloaded`, the refusal, or the abort reason of the signal.
   */
  enter(name: string, abandoned?: () => AbortSignal, wanted: Wanted = ONE): Turn | Promise<Turn> {
    const now = performance.now();
    const known = this.tenants.get(name);
    const hasRoom = this.hasRoom(wanted.cost);
    if (hasRoom && (!known || this.mayRun(name, known, wanted.cost, now))) return this.start(name, known, wanted, now);
    if (this.refusal && this.refusal.except !== name) throw this.options.refusal();
    const { tenant, all, what } = this.options.waiting ?? { tenant: Infinity, all: Infinity, what: '' };
    const isTenantFull = known !== undefined && known.waiting.length >= tenant;
    if (isTenantFull || this.usage.waiting >= all) {
      this.usage.refused += 1;
      throw isTenantFull ? rateLimited(2, what) : overloaded();
    }
    if (hasRoom) this.usage.share_waits += 1;
    else this.usage.waits += 1;
    return this.wait(name, known ?? this.addTenant(name), wanted, now, abandoned);
  }

  /**
   * Ends a turn. `spent` is the cost it used, which decides whose turn is next. With `context`, the tenant's waiting
   * entry of that context goes first.
   */
  leave({ tenant: name, cost, since }: Turn, spent = 0, context?: string): void {
    const now = performance.now();
    this.usage.used -= cost;
    this.usage.held_seconds += (now - since) / 1_000;
    const tenant = this.tenants.get(name);
    if (tenant) {
      tenant.running -= cost;
      tenant.spent += spent;
      this.hasCosts ||= spent > 0;
      if (context !== undefined) this.startOf(name, tenant, context, now);
      this.forgetIfIdle(name, tenant);
    }
    if (this.options.rules) this.options.rules.onRoom(now);
    else this.serve(now);
  }

  serve(now: number): void {
    while (this.usage.waiting > 0) {
      const name = this.nextTenant(now);
      const tenant = name === undefined ? undefined : this.tenants.get(name);
      const first = tenant?.waiting[0];
      if (name === undefined || !tenant || !first) return;
      this.startWaiter(name, tenant, first, now);
    }
  }

  /**
   * Refuses waiting entries, and from now on entries that would have to wait, except entries of the tenant `except`.
   */
  refuseWaiting(except?: string): void {
    this.refusal = { except };
    for (const [name, { waiting }] of [...this.tenants]) {
      if (name !== except) for (const waiter of [...waiting]) waiter.giveUp(this.options.refusal());
    }
  }

  private hasRoom(cost: number): boolean {
    return this.options.rules ? this.options.rules.hasRoom() : fits(this.usage.used, cost, this.options.all);
  }

  private mayRun(name: string, { running }: Tenant, cost: number, now: number): boolean {
    if (!fits(running, cost, this.options.tenant)) return false;
    return !this.options.rules || this.options.rules.mayRun(name, running, now);
  }

  private start(name: string, known: Tenant | undefined, { cost }: Wanted, now: number): Turn {
    const tenant = known ?? this.addTenant(name);
    this.usage.used += cost;
    tenant.running += cost;
    this.options.rules?.onStart(name, now);
    return { queue: this, tenant: name, cost, since: now };
  }

  private startWaiter(name: string, tenant: Tenant, waiter: Waiter, now: number): void {
    this.tenants.delete(name);
    this.tenants.set(name, tenant);
    this.remove(tenant, waiter);
    this.usage.wait_seconds += (now - waiter.since) / 1_000;
    waiter.start(this.start(name, tenant, waiter, now));
  }

  /** Starts the tenant's first waiting entry of the context, if it may run. */
  private startOf(name: string, tenant: Tenant, context: string, now: number): void {
    const same = tenant.waiting.find((waiter) => waiter.context === context);
    if (!same || !this.hasRoom(same.cost) || !this.mayRun(name, tenant, same.cost, now)) return;
    this.startWaiter(name, tenant, same, now);
  }

  private nextTenant(now: number): string | undefined {
    const { rules } = this.options;
    let least: string | undefined;
    let leastSpent = Number.POSITIVE_INFINITY;
    for (const [name, tenant] of this.tenants) {
      const [first] = tenant.waiting;
      if (!first || !this.hasRoom(first.cost) || !this.mayRun(name, tenant, first.cost, now)) continue;
      const spent = rules ? rules.spent(name, now) : tenant.spent;
      if (spent >= leastSpent) continue;
      least = name;
      leastSpent = spent;
    }
    return least;
  }

  private wait(
    name: string,
    tenant: Tenant,
    wanted: Wanted,
    since: number,
    abandoned?: () => AbortSignal,
  ): Promise<Turn> {
    this.usage.waiting += 1;
    return new Promise((start, reject) => {
      const giveUp = (reason: unknown) => {
        this.remove(tenant, waiter);
        this.forgetIfIdle(name, tenant);
        this.usage.refused += 1;
        reject(reason);
      };
      const waiter: Waiter = { ...wanted, since, start, giveUp, stopWatching: undefined };
      let at = tenant.waiting.length;
      while (at > 0 && (tenant.waiting[at - 1]?.rank ?? 0) > (waiter.rank ?? 0)) at -= 1;
      tenant.waiting.splice(at, 0, waiter);
      this.watchLater(() => {
        if (tenant.waiting.includes(waiter)) this.watch(waiter, abandoned?.());
      });
    });
  }

  private watch(waiter: Waiter, signal: AbortSignal | undefined): void {
    if (signal?.aborted) return waiter.giveUp(signal.reason);
    const { waitMs } = this.options;
    const leave = () => waiter.giveUp(signal?.reason);
    const left = (waitMs ?? 0) - (performance.now() - waiter.since);
    const timer = waitMs === undefined ? undefined : setTimeout(() => waiter.giveUp(overloaded()), left).unref();
    signal?.addEventListener('abort', leave, { once: true });
    waiter.stopWatching = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    };
  }

  private watchLater(watch: () => void): void {
    const { watchAfterMs } = this.options;
    if (watchAfterMs === undefined) return watch();
    if (this.unwatched.push(watch) > 1) return;
    setTimeout(() => {
      for (const each of this.unwatched.splice(0)) each();
    }, watchAfterMs).unref();
  }

  private remove(tenant: Tenant, waiter: Waiter): void {
    waiter.stopWatching?.();
    tenant.waiting.splice(tenant.waiting.indexOf(waiter), 1);
    this.usage.waiting -= 1;
  }

  /** A new tenant starts level with the tenant that has spent the least, so that idling earns no priority. */
  private addTenant(name: string): Tenant {
    let spent = this.hasCosts && this.tenants.size > 0 ? Number.POSITIVE_INFINITY : 0;
    if (this.hasCosts) for (const other of this.tenants.values()) spent = Math.min(spent, other.spent);
    const tenant = { running: 0, waiting: [], spent };
    this.tenants.set(name, tenant);
    return tenant;
  }

  private forgetIfIdle(name: string, tenant: Tenant): void {
    if (tenant.running === 0 && tenant.waiting.length === 0) this.tenants.delete(name);
  }
}

/** A single entry always fits, whatever its cost. */
function fits(running: number, cost: number, most: number): boolean {
  return running === 0 || running + cost <= most;
}
