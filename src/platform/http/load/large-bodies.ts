import { ApiError, rateLimited, stopping } from '../../core/errors.ts';
import { openFairQueue, type Queued } from '../../sandbox/fair-queue.ts';

/** Smaller bodies are read and decoded at once. */
export const LARGE_BYTES = 65_536;

/** How much of large bodies a tenant and the process work on at a time, in bytes, from their first byte until the answer. */
const TENANT_BYTES = 4 * 2 ** 20;
const ALL_BYTES = 32 * 2 ** 20;

/** After each body, other requests have this many times as long as it was decoded: receiving it took time, too. */
const PAUSE_FACTOR = 4;

/** How many requests may wait, of a tenant and in all, and for how long. */
const TENANT_WAITING = 256;
const ALL_WAITING = 1_000;
const WAIT_MS = 30_000;

interface Waiter {
  bytes: number;
  start(): void;
  refuse(): void;
  stopWatching(): void;
}

interface Tenant {
  bytes: number;
  waiting: Waiter[];
}

interface Work extends Queued {
  run(): void;
  refuse(): void;
}

/**
 * Large bodies of JSON take turns of tenants, so that many of them neither fill the memory nor keep the event loop from other
 * requests.
 */
export interface LargeBodies {
  /**
   * Waits until the body may be read, and returns what must be called when its request has ended. Errors: 429
   * `rate_limited` or 503 `overloaded` where too many wait, or this one has waited too long; the reason of `gone`.
   */
  enter(tenant: string, bytes: number, gone: AbortSignal): Promise<() => void>;
  /**
   * Runs synchronous work on a large body: one at a time, and after each a pause for other requests, fair by tenant in time.
   */
  inTurn<T>(tenant: string, work: () => T): Promise<T>;
  /** Fails what waits, and what would have to wait later, with 503: the process stops. */
  refuseWaiting(): void;
}

export function openLargeBodies(): LargeBodies {
  const tenants = new Map<string, Tenant>();
  let bytesInAll = 0;
  let waiting = 0;
  let refusesWaiting = false;
  const turns = openTurns();

  const hasRoom = (tenant: Tenant, bytes: number) =>
    (tenant.bytes === 0 || tenant.bytes + bytes <= TENANT_BYTES) &&
    (bytesInAll === 0 || bytesInAll + bytes <= ALL_BYTES);

  function take(name: string, tenant: Tenant, bytes: number): () => void {
    tenants.set(name, tenant);
    tenant.bytes += bytes;
    bytesInAll += bytes;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      tenant.bytes -= bytes;
      bytesInAll -= bytes;
      forgetIfIdle(name, tenant);
      startNext();
    };
  }

  /** Tenants take turns: one that was served comes after all others. */
  function startNext(): void {
    for (const [name, tenant] of [...tenants]) {
      const [first] = tenant.waiting;
      if (!first || !hasRoom(tenant, first.bytes)) continue;
      tenants.delete(name);
      tenants.set(name, tenant);
      leaveQueue(tenant, first);
      first.start();
    }
  }

  function leaveQueue(tenant: Tenant, waiter: Waiter): void {
    waiter.stopWatching();
    tenant.waiting.splice(tenant.waiting.indexOf(waiter), 1);
    waiting -= 1;
  }

  function forgetIfIdle(name: string, tenant: Tenant): void {
    if (tenant.bytes === 0 && tenant.waiting.length === 0) tenants.delete(name);
  }

  function wait(name: string, tenant: Tenant, bytes: number, gone: AbortSignal): Promise<() => void> {
    if (refusesWaiting) throw stopping();
    if (tenant.waiting.length >= TENANT_WAITING) throw rateLimited(2, 'large requests at once');
    if (waiting >= ALL_WAITING) throw overloaded();
    tenants.set(name, tenant);
    waiting += 1;
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown) => {
        leaveQueue(tenant, waiter);
        forgetIfIdle(name, tenant);
        reject(reason);
      };
      const leave = () => giveUp(gone.reason);
      const timer = setTimeout(() => giveUp(overloaded()), WAIT_MS).unref();
      gone.addEventListener('abort', leave, { once: true });
      const waiter: Waiter = {
        bytes,
        start: () => resolve(take(name, tenant, bytes)),
        refuse: () => giveUp(stopping()),
        stopWatching() {
          clearTimeout(timer);
          gone.removeEventListener('abort', leave);
        },
      };
      tenant.waiting.push(waiter);
    });
  }

  return {
    async enter(name, bytes, gone) {
      gone.throwIfAborted();
      const tenant = tenants.get(name) ?? { bytes: 0, waiting: [] };
      return hasRoom(tenant, bytes) ? take(name, tenant, bytes) : wait(name, tenant, bytes, gone);
    },
    inTurn: turns.inTurn,
    refuseWaiting() {
      refusesWaiting = true;
      for (const { waiting: all } of [...tenants.values()]) for (const waiter of [...all]) waiter.refuse();
      turns.refuseWaiting();
    },
  };
}

/** One work at a time, and after each a pause: `LargeBodies.inTurn`. */
function openTurns(): Pick<LargeBodies, 'inTurn' | 'refuseWaiting'> {
  const turns = openFairQueue<Work>(1);
  let isBusy = false;

  function runNext(): void {
    const work = isBusy ? undefined : turns.take();
    if (!work) return;
    isBusy = true;
    const began = performance.now();
    work.run();
    const ms = performance.now() - began;
    turns.done(work.owner, ms);
    setTimeout(() => {
      isBusy = false;
      runNext();
    }, ms * PAUSE_FACTOR);
  }

  return {
    inTurn: (owner, work) =>
      new Promise((resolve, reject) => {
        const run = () => {
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
        };
        turns.add({ owner, rank: 0, context: '', run, refuse: () => reject(stopping()) });
        runNext();
      }),
    refuseWaiting() {
      for (const work of turns.clear()) work.refuse();
    },
  };
}

function overloaded(): ApiError {
  return new ApiError('overloaded', 'The service has more to do just now than it can. Try again in a moment.');
}
