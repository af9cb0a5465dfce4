import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const LOWEST = 19;

/** How much lower than that of requests the priority of a kind of work is, as a nice value. */
export const NICE = {
  /** Texts that a person waits for; the reads of others come first. */
  requests: 5,
  /** Files of uploads and imports, and documents. */
  files: 15,
} as const;

/** By how much the priority of this process is lower than that of requests. */
let lowered = 0;

/** Lowers the priority of this process; that of the processes that it starts is then still as `NICE` says. */
export function lowerOwnPriority(nice: number): void {
  lowerPriority(process.pid, nice);
  lowered = nice;
}

/**
 * Lowers the CPU priority of a process to `nice` below that of requests. Linux gives each thread a priority of its own, and
 * those that collect garbage are there already; later ones take that of the main thread.
 */
export function lowerPriority(pid: number, nice: number): void {
  if (nice <= lowered) return;
  const priority = Math.min(getPriority() + nice - lowered, LOWEST);
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
