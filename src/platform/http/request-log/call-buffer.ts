/** Maximum number of calls that wait to be written. */
const CALLS_MAX = 4_000;

/** Calls that wait to be written: the last ones of each tenant. */
export interface CallBuffer<Call> {
  add(tenant: string, call: Call): void;
  /** All of them, those of each tenant in their order. */
  take(): Call[];
}

/**
 * `perTenant`: how many of each are kept, the newest. When there are too many in all, those with more than an equal share lose
 * their oldest ones, so that one tenant cannot take the room of another.
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

  /** Frees half of the room, so that the next time comes late. */
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
      // Cutting at twice the number moves each call once on average.
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
