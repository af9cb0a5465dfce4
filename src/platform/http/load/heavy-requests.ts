import { rateLimited, stopping } from '../../core/errors.ts';

/** How many heavy requests of a tenant run at once in a process, and how many may wait. */
const RUNNING_MAX = 2;
const WAITING_MAX = 256;

interface Waiter {
  start(): void;
  refuse(): void;
}

interface Tenant {
  running: number;
  waiting: Waiter[];
}

/**
 * Requests whose work keeps the event loop and the database busy, such as searches. A request of another tenant waits for what
 * runs before its own turn of the event loop, so of each tenant only few run at once.
 */
export interface HeavyRequests {
  /**
   * Waits until the request may run, and returns what must be called once when it has run. Errors: 429 `rate_limited` where too
   * many of the tenant wait; the reason of `abandoned`, which is asked for only by what has to wait.
   */
  enter(tenant: string, abandoned: () => AbortSignal): Promise<() => void>;
  /** Fails what waits, and what would have to wait later, with 503: the process stops. */
  refuseWaiting(): void;
}

export function openHeavyRequests(): HeavyRequests {
  const tenants = new Map<string, Tenant>();
  let refusesWaiting = false;

  function run(name: string, tenant: Tenant): () => void {
    tenant.running += 1;
    return () => {
      tenant.running -= 1;
      const next = tenant.waiting.shift();
      if (next) next.start();
      else if (tenant.running === 0) tenants.delete(name);
    };
  }

  return {
    async enter(name, abandoned) {
      const tenant = tenants.get(name) ?? { running: 0, waiting: [] };
      tenants.set(name, tenant);
      if (tenant.running < RUNNING_MAX) return run(name, tenant);
      if (refusesWaiting) throw stopping();
      if (tenant.waiting.length >= WAITING_MAX) throw rateLimited(2, 'searches at once');
      const signal = abandoned();
      signal.throwIfAborted();
      return new Promise((resolve, reject) => {
        const leave = () => {
          tenant.waiting.splice(tenant.waiting.indexOf(waiter), 1);
          reject(signal.reason);
        };
        const waiter: Waiter = {
          refuse() {
            signal.removeEventListener('abort', leave);
            reject(stopping());
          },
          start() {
            signal.removeEventListener('abort', leave);
            resolve(run(name, tenant));
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        tenant.waiting.push(waiter);
      });
    },
    refuseWaiting() {
      refusesWaiting = true;
      for (const { waiting } of tenants.values()) for (const waiter of waiting.splice(0)) waiter.refuse();
    },
  };
}
