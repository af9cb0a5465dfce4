import type { Cost } from '../process-pool.ts';

export const RENDERING_KINDS = ['save', 'preview', 'upload'] as const;
type RenderingKind = (typeof RENDERING_KINDS)[number];

/** Cost of one kind of rendering since this process started. */
export interface Spending {
  /** Texts that are queued or being rendered. */
  pending: number;
  rendered: number;
  waitSeconds: number;
  /** CPU time, including the start of processes. */
  cpuSeconds: number;
}

export interface RenderingStats {
  readonly spending: Record<RenderingKind, Readonly<Spending>>;
  /** Counts `work` as pending until it settles. */
  waiting<T>(kind: RenderingKind, work: Promise<T>): Promise<T>;
  record(kind: RenderingKind, cost: Cost): void;
  /** Adds the difference between two reports of another process, including its pending texts. */
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
