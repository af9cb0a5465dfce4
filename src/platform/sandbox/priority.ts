import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const LOWEST = 19;

/** Nice values of child processes and commands, relative to the process that serves requests. */
export const NICE = {
  /** Rendering of texts that a user waits for. Page reads come first. */
  requests: 5,
  /** Files of uploads and imports, documents, and backups. */
  files: 15,
} as const;

/** Nice value of this process, relative to requests. */
let lowered = 0;

/**
 * Lowers the priority of this process. The processes that it starts afterwards still get the priority that `NICE`
 * states.
 */
export function lowerOwnPriority(nice: number): void {
  lowerPriority(process.pid, nice);
  lowered = nice;
}

/**
 * Lowers the CPU priority of a process to `nice` below requests. On Linux each thread has its own priority: the threads
 * for garbage collection already exist and are changed too, later threads inherit from the main thread.
 */
export function lowerPriority(pid: number, nice: number): void {
  if (nice <= lowered) return;
  const priority = Math.min(getPriority() + nice - lowered, LOWEST);
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch (error) {
      // The thread has ended.
      if ((error as { info?: { code?: string } }).info?.code !== 'ESRCH') throw error;
    }
  }
}

/** Returns the main thread only if the process has ended or the system has no /proc. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}
