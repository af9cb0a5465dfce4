import type { Lane } from './define-job.ts';

/** The jobs that run in this process, by lane. */
export interface Slots {
  isEmpty(): boolean;
  hasRoom(job: { lane: Lane }): boolean;
  /**
   * Returns whether only the second half of a lane is free. It is reserved for workspaces without running jobs, so that
   * large uploads do not block other tenants.
   */
  isHalfFull(job: { lane: Lane }): boolean;
  /** Occupies a slot until the work has ended. */
  fill(lane: Lane, work: Promise<void>): void;
  /** Waits until no job is running. */
  settled(): Promise<void>;
}

/**
 * Opens the slots of a process. `onFree` is called when a slot becomes free, `onError` with the error of failed work.
 */
export function openSlots(
  sizes: Record<Lane, number>,
  { onFree, onError }: { onFree: () => void; onError: (error: unknown) => void },
): Slots {
  const running = new Set<{ lane: Lane; done: Promise<void> }>();
  const used = (lane: Lane) => [...running].filter((one) => one.lane === lane).length;
  return {
    isEmpty: () => running.size === 0,
    hasRoom: ({ lane }) => used(lane) < sizes[lane],
    isHalfFull: ({ lane }) => used(lane) >= Math.ceil(sizes[lane] / 2),
    fill(lane, work) {
      const done = work.catch(onError).finally(() => {
        running.delete(entry);
        onFree();
      });
      const entry = { lane, done };
      running.add(entry);
    },
    settled: async () => {
      await Promise.all([...running].map(({ done }) => done));
    },
  };
}
