import type { Worker } from 'node:worker_threads';

/** The limit of elapsed time, as a multiple of the CPU time limit: threads may run at low priority. */
const ELAPSED_TIME_FACTOR = 60;

/**
 * Calls `onTimeout` after the thread has used `ms` of CPU time since `start`, its own measurement. CPU time, unlike
 * elapsed time, does not depend on the load of the machine. Returns a function that stops the timer.
 */
export function onCpuTimeout(
  worker: Worker,
  ms: number,
  start: NodeJS.CpuUsage | undefined,
  onTimeout: () => void,
): () => void {
  const deadline = performance.now() + ELAPSED_TIME_FACTOR * ms;
  let timer = setTimeout(check, ms);
  let isStopped = false;

  async function check(): Promise<void> {
    // Before Node 24.6 a thread's CPU time cannot be read; elapsed time is used instead.
    if (!start || !('cpuUsage' in worker)) return onTimeout();
    try {
      const { user, system } = await worker.cpuUsage(start);
      const left = ms - (user + system) / 1_000;
      if (isStopped) return;
      if (left <= 0 || performance.now() > deadline) onTimeout();
      else timer = setTimeout(check, Math.max(left, 10));
    } catch {
      // The thread has ended; its `exit` event reports that.
    }
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
