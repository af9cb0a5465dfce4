/** Maximum number of calls that wait to be written. */
const CALLS_MAX = 4_000;

/** The latest calls of each tenant that wait to be written. */
export interface CallBuffer<Call> {
  add(tenant: string, call: Call): void;
  /** Removes and returns all calls; each tenant's calls are in order. */
  take(): Call[];
}

/**
 * Opens a buffer that keeps the newest `perTenant` calls of each tenant. Above `max`, tenants with more than an equal
 * share lose their oldest calls, so that one tenant cannot displace another.
 */
export function openCallBuffer<Call>(perTenant: number, max = CALLS_MAX): CallBuffer<Call> {
  const byTenant = new Map<string, Call[]>();
  let count = 0;

  function keepNewest(tenant: string, kept: number): void {
    const calls = byTenant.get(tenant) ?? [];
    const surplus = calls.length - kept;
    if (surplus <= 0) return;
    count -= surplus;
    if (kept === 0) byTenant.delete(tenant);
    else calls.splice(0, surplus);
  }

  /** Frees half of the space, so that it does not run often. */
  function makeRoom(): void {
    const share = Math.floor(max / 2 / byTenant.size);
    for (const tenant of [...byTenant.keys()]) {
      if (count <= max / 2) return;
      keepNewest(tenant, share);
    }
  }

  return {
    add(tenant, call) {
      if (count >= max) makeRoom();
      const calls = byTenant.get(tenant);
      if (calls) calls.push(call);
      else byTenant.set(tenant, [call]);
      count += 1;
      // Truncating at twice the limit moves each call only once on average.
      if ((calls?.length ?? 1) >= 2 * perTenant) keepNewest(tenant, perTenant);
    },
    take() {
      for (const tenant of [...byTenant.keys()]) keepNewest(tenant, perTenant);
      const calls = [...byTenant.values()].flat();
      byTenant.clear();
      count = 0;
      return calls;
    },
  };
}
