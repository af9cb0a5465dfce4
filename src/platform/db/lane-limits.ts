/** The purpose of a connection. */
export type PoolLane = 'reads' | 'writes' | 'jobs';

/**
 * Limits of a lane: its maximum number of connections, the number reserved for it, and the maximum per tenant: normally
 * (`tenant`), and while the tenant's average is above `heavy` and other tenants are active (`heavy`).
 */
export interface LaneLimits {
  most: number;
  kept: number;
  tenant: number;
  heavy: number;
  wait_ms: number;
}

/** Divides a pool of this size between the lanes. Pools of fewer than four connections are not divided. */
export function laneLimits(connections: number): Record<PoolLane, LaneLimits> {
  const share = (part: number) => Math.max(1, Math.floor(connections * part));
  if (connections < 4) {
    const all = { most: connections, kept: 0, tenant: connections, heavy: connections };
    return {
      reads: { ...all, wait_ms: 20_000 },
      writes: { ...all, wait_ms: 30_000 },
      jobs: { ...all, wait_ms: 30_000 },
    };
  }
  return {
    reads: { most: connections, kept: share(0.25), tenant: share(0.4), heavy: share(0.1), wait_ms: 20_000 },
    writes: { most: share(0.6), kept: share(0.2), tenant: share(0.4), heavy: share(0.1), wait_ms: 30_000 },
    // A job may report its progress on a second connection while its transaction holds the first.
    jobs: { most: share(0.5), kept: 1, tenant: connections, heavy: connections, wait_ms: 30_000 },
  };
}
