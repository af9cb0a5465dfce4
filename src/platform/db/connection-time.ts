/** Time constant of the exponential average: usage this long ago has weight 1/e. */
const MEMORY_MS = 5_000;

/** A tenant that requested a connection within this time is active. */
const ACTIVE_MS = 2_000;

/** Maximum number of tenants in memory; above it, idle tenants are dropped. */
const TENANTS_MAX = 2_000;

interface Used {
  /** Connections in use now. */
  running: number;
  /** Connection-milliseconds, decayed exponentially. */
  level: number;
  /** Time at which `level` was computed. */
  at: number;
}

/**
 * Average number of connections used by each tenant over the last seconds, including connections in use now. All times
 * are milliseconds on one clock.
 */
export interface ConnectionTime {
  take(tenant: string, now: number): void;
  giveBack(tenant: string, now: number): void;
  average(tenant: string, now: number): number;
  /** Records that a tenant requests a connection. */
  ask(tenant: string, now: number): void;
  /** Returns whether another tenant has requested a connection within the last seconds. */
  isOtherActive(tenant: string, now: number): boolean;
}

export function openConnectionTime(): ConnectionTime {
  const tenants = new Map<string, Used>();
  /** The last tenant that requested a connection, and the last different tenant. */
  let last = { tenant: '', at: Number.NEGATIVE_INFINITY };
  let other = last;

  function bringUpTo(used: Used, now: number): Used {
    const kept = Math.exp((used.at - now) / MEMORY_MS);
    used.level = used.level * kept + used.running * MEMORY_MS * (1 - kept);
    used.at = now;
    return used;
  }

  function change(tenant: string, by: number, now: number): void {
    const used = tenants.get(tenant) ?? { running: 0, level: 0, at: now };
    bringUpTo(used, now).running += by;
    tenants.set(tenant, used);
    if (tenants.size > TENANTS_MAX) forgetUnused(now);
  }

  function forgetUnused(now: number): void {
    for (const [tenant, used] of tenants) {
      if (used.running === 0 && bringUpTo(used, now).level < MEMORY_MS / 100) tenants.delete(tenant);
    }
  }

  return {
    take: (tenant, now) => change(tenant, 1, now),
    giveBack: (tenant, now) => change(tenant, -1, now),
    average(tenant, now) {
      const used = tenants.get(tenant);
      return used ? bringUpTo(used, now).level / MEMORY_MS : 0;
    },
    ask(tenant, now) {
      if (last.tenant !== tenant) other = last;
      last = { tenant, at: now };
    },
    isOtherActive(tenant, now) {
      const { at } = last.tenant === tenant ? other : last;
      return now - at < ACTIVE_MS;
    },
  };
}
