import type { Cost } from './process-pool.ts';

export const RENDERING_KINDS = ['save', 'preview', 'upload'] as const;
export type RenderingKind = (typeof RENDERING_KINDS)[number];

/** What rendering of one kind cost since the start of this process. */
interface Spending {
  /** Texts that wait or are rendered now. */
  pending: number;
  rendered: number;
  waitSeconds: number;
  /** CPU time, including that of starting processes. */
  cpuSeconds: number;
}

/** For metrics. */
export interface RenderingStats {
  readonly spending: Record<RenderingKind, Readonly<Spending>>;
  /** Counts work as pending until it has ended. */
  waiting<T>(kind: RenderingKind, work: Promise<T>): Promise<T>;
  record(kind: RenderingKind, cost: Cost): void;
}

export function openRenderingStats(): RenderingStats {
  const none = (): Spending => ({ pending: 0, rendered: 0, waitSeconds: 0, cpuSeconds: 0 });
  const spending = { save: none(), preview: none(), upload: none() };
  return {
    spending,
    async waiting(kind, work) {
      spending[kind].pending += 1;
      try {
        return await work;
      } finally {
        spending[kind].pending -= 1;
      }
    },
    record(kind, { waitedMs, usedMs }) {
      spending[kind].rendered += 1;
      spending[kind].waitSeconds += waitedMs / 1_000;
      spending[kind].cpuSeconds += usedMs / 1_000;
    },
  };
}
