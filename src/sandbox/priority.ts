import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const LOWEST = 19;

/**
 * Lowers the CPU priority of a process to `nice` below that of this one. Linux gives each thread a priority of its own, and
 * those that collect garbage are there already; later ones take that of the main thread.
 */
export function lowerPriority(pid: number, nice: number): void {
  if (nice === 0) return;
  const priority = Math.min(getPriority() + nice, LOWEST);
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch (error) {
      // It has ended since.
      if ((error as { info?: { code?: string } }).info?.code !== 'ESRCH') throw error;
    }
  }
}

/** Only the main thread where the system does not list them, or if the process has just ended. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}
