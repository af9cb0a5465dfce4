import { stopping } from '../core/errors.ts';
import { type ConfinedProcess, type ConfinedProgram, startConfinedProcess } from './confined-process.ts';

/** A process is replaced after this much CPU time, far from the limit of its whole life. */
const MAX_USED_MS = 600_000;

export interface SlotOptions {
  program: ConfinedProgram;
  /** Whether tasks with different contexts never share a process. */
  isPrivate: boolean;
  /** A process is replaced after this many requests, so that leaks and state do not accumulate. */
  maxRequests: number;
  /**
   * A process that has grown beyond this many MiB is replaced when its task is done: V8 hardly gives memory back. By default
   * none is, for processes that are expensive to replace.
   */
  maxKeptMb?: number;
  /** A process ends after this time without work. */
  idleMs: number;
}

/** A place for one process, which starts on demand. */
export interface ProcessSlot {
  isRunning(): boolean;
  /**
   * The process for a task in this context; a new one if the last one has ended, is used up or may not be shared. Throws if
   * the slot is closed or none can be started.
   */
  processFor(context: string): Promise<ConfinedProcess>;
  end(): Promise<void>;
  /** The CPU time of its processes in ms that was not charged yet. */
  charge(): number;
  /**
   * Replaces a process that has grown, before anybody waits for it, and ends it when it has no work. Answers the CPU time that
   * replacing it took, in ms.
   */
  rest(): Promise<number>;
  /** Ends the process; none is started any more. */
  close(): Promise<void>;
}

export function openSlot(options: SlotOptions): ProcessSlot {
  const { program, isPrivate, maxRequests, maxKeptMb = Number.POSITIVE_INFINITY, idleMs } = options;
  let process: ConfinedProcess | undefined;
  /** Of the last task. */
  let context: string | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** Of the CPU time of ended processes and of the present one: how much, and how much of it was charged. */
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
    // What keeps it from starting is told to the next task, which tries again.
    process = await startConfinedProcess(program).catch(() => undefined);
    if (isClosed) await end();
    return charge();
  }

  return {
    isRunning: () => process !== undefined,
    async processFor(next) {
      clearTimeout(idle);
      const isOthers = isPrivate && context !== next;
      // Each task is charged at its end.
      const isUsedUp = process && (process.requestsSent >= maxRequests || chargedMs - endedMs > MAX_USED_MS);
      if (isOthers || isUsedUp || !process?.isAlive()) await end();
      context = next;
      if (isClosed) throw closed();
      process ??= await startConfinedProcess(program);
      if (!isClosed) return process;
      await end();
      throw closed();
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

/** A request that waited for it is told to try again: it is closed when the service stops. */
export function closed(): Error {
  return stopping();
}
