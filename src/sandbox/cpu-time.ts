import type { Worker } from 'node:worker_threads';

/** A machine that is this much busier than a thread alone would make it is beyond being waited for; threads may come behind others. */
const WAITING_MAX = 60;

/**
 * Calls `over` once the thread has computed for `ms` more than it had at `began`, as it told of itself: what the rest of the
 * machine is doing is not held against it, so that the same text has the same time on a busy machine. Answers how to stop.
 */
export function onCpuTimeout(
  worker: Worker,
  ms: number,
  began: NodeJS.CpuUsage | undefined,
  over: () => void,
): () => void {
  const deadline = performance.now() + WAITING_MAX * ms;
  let timer = setTimeout(check, ms);
  let isStopped = false;

  async function check(): Promise<void> {
    // Before Node 24.6 a thread does not tell, and the time by the clock has to do.
    if (!began || !('cpuUsage' in worker)) return over();
    try {
      const { user, system } = await worker.cpuUsage(began);
      const left = ms - (user + system) / 1_000;
      if (isStopped) return;
      if (left <= 0 || performance.now() > deadline) over();
      else timer = setTimeout(check, Math.max(left, 10));
    } catch {
      // A thread that has ended is told of by its own event.
    }
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
