import type { Cost } from '../process-pool.ts';

export const RENDERING_KINDS = ['save', 'preview', 'upload'] as const;
type RenderingKind = (typeof RENDERING_KINDS)[number];

/** What rendering of one kind cost since the start of this process. */
export interface Spending {
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
  /** Adds what another process has spent since it last told, and takes over what is pending there. */
  addOfProcess(kind: RenderingKind, now: Spending, last: Spending): void;
}

export const NOTHING_SPENT: Readonly<Spending> = { pending: 0, rendered: 0, waitSeconds: 0, cpuSeconds: 0 };

export function openRenderingStats(): RenderingStats {
  const spending = { save: { ...NOTHING_SPENT }, preview: { ...NOTHING_SPENT }, upload: { ...NOTHING_SPENT } };
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
    addOfProcess(kind, now, last) {
      for (const field of ['pending', 'rendered', 'waitSeconds', 'cpuSeconds'] as const) {
        spending[kind][field] += now[field] - last[field];
      }
    },
  };
}
