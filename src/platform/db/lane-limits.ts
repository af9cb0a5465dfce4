/** What a connection is used for. */
export type PoolLane = 'reads' | 'writes' | 'jobs';

/**
 * How many connections a lane may use, how many of them are kept for it, and how many one tenant may use: usually, and while
 * it has used more than that on average and others are active.
 */
export interface LaneLimits {
  most: number;
  kept: number;
  tenant: number;
  heavy: number;
  /** How long to wait for a slot. */
  wait_ms: number;
}

/** How a pool of this size is divided; fewer than four connections are too few to divide. */
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
    // A job may show its progress on a second connection while a transaction has its first.
    jobs: { most: share(0.5), kept: 1, tenant: connections, heavy: connections, wait_ms: 30_000 },
  };
}
