import type { Worker } from 'node:worker_threads';

/** The limit of elapsed time, as a multiple of the CPU time limit: threads may run at low priority. */
const WAITING_MAX = 60;

/**
 * Calls `onTimeout` after the thread has used `ms` of CPU time since `start`, its own measurement. CPU time, unlike
 * elapsed time, does not depend on the load of the machine. Returns a function that stops the timer.
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
    // Before Node 24.6 a thread's CPU time cannot be read; elapsed time is used instead.
    if (!began || !('cpuUsage' in worker)) return over();
    try {
      const { user, system } = await worker.cpuUsage(began);
      const left = ms - (user + system) / 1_000;
      if (isStopped) return;
      if (left <= 0 || performance.now() > deadline) over();
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
