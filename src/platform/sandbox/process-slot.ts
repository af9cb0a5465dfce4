import { stopping } from '../core/errors.ts';
import { type ConfinedProcess, type ConfinedProgram, startConfinedProcess } from './confined-process.ts';

/** CPU time after which a process is replaced, far below the limit of its lifetime. */
const MAX_USED_MS = 600_000;

export interface SlotOptions {
  program: ConfinedProgram;
  /** Whether tasks with different contexts never share a process. */
  isPrivate: boolean;
  /** Requests after which a process is replaced, so that leaks and state do not accumulate. */
  maxRequests: number;
  /**
   * A process larger than this (in MiB) is replaced after its task, because V8 rarely returns memory. By default there
   * is no limit, for processes that are expensive to replace.
   */
  maxKeptMb?: number;
  /** Idle time after which a process ends. */
  idleMs: number;
}

/** Holds at most one process at a time, which starts on demand and is replaced once it is used up. */
export interface ProcessSlot {
  isRunning(): boolean;
  /**
   * Returns the process for a task with this context. Starts a new one if the last one has ended, is used up or may not
   * be shared. Throws if the slot is closed or no process can be started.
   */
  processFor(context: string): Promise<ConfinedProcess>;
  end(): Promise<void>;
  /** Returns the CPU time of its processes, in ms, since the last call. */
  charge(): number;
  /**
   * Replaces a process that has grown too large while no task waits for it, and schedules its end for when it is idle.
   * Returns the CPU time of the replacement, in ms.
   */
  rest(): Promise<number>;
  /** Ends the process and starts no other. */
  close(): Promise<void>;
}

export function openSlot(options: SlotOptions): ProcessSlot {
  const { program, isPrivate, maxRequests, maxKeptMb = Number.POSITIVE_INFINITY, idleMs } = options;
  let process: ConfinedProcess | undefined;
  /** The context of the last task. */
  let context: string | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** CPU time of the processes that have ended, and the part of all CPU time that was charged. */
  let endedMs = 0;
  let chargedMs = 0;

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ending = process;
    process = undefined;
    if (!ending) return;
    endedMs += ending.usedMs();
    await ending.end();
  }

  function charge(): number {
    const total = endedMs + (process?.usedMs() ?? 0);
    const used = total - chargedMs;
    chargedMs = total;
    return Math.max(used, 0);
  }

  async function replaceIfLarge(): Promise<number> {
    if (isClosed || (process?.memoryMb() ?? 0) <= maxKeptMb) return 0;
    await end();
    // The next task tries to start it again, and gets the error.
    process = await startConfinedProcess(program).catch(() => undefined);
    if (isClosed) await end();
    return charge();
  }

  return {
    isRunning: () => process !== undefined,
    async processFor(next) {
      clearTimeout(idle);
      const isOthers = isPrivate && context !== next;
      // `chargedMs` is complete here, because each task is charged at its end.
      const isUsedUp = process && (process.requestsSent >= maxRequests || chargedMs - endedMs > MAX_USED_MS);
      if (isOthers || isUsedUp || !process?.isAlive()) await end();
      context = next;
      if (isClosed) throw stopping();
      process ??= await startConfinedProcess(program);
      if (!isClosed) return process;
      await end();
      throw stopping();
    },
    end,
    charge,
    async rest() {
      clearTimeout(idle);
      const usedMs = await replaceIfLarge();
      idle = setTimeout(end, idleMs).unref();
      return usedMs;
    },
    async close() {
      isClosed = true;
      await end();
    },
  };
}
