import { stopping } from '../core/errors.ts';
import { FairQueue, type Turn } from '../core/queue/fair-queue.ts';
import type { ConfinedProcess } from './confined-process.ts';
import { openSlot, type ProcessSlot, type SlotOptions } from './process-slot.ts';

export interface PoolOptions extends SlotOptions {
  /** Maximum number of processes. */
  processes: number;
  /** Processes that one owner may use at the same time. */
  perOwner: number;
  /**
   * Tasks with the same context that run in a row while other owners wait, because changing the context is expensive.
   */
  consecutive: number;
}

/** Work that needs a process. */
export interface Task {
  /** The ID of the workspace. */
  owner: string;
  /** The id of a wiki, an upload or a source. Tasks with the same context preferably run in the same process, which keeps their state. */
  context: string;
  /** Among the tasks of one owner, lower ranks run first. */
  rank: number;
  /** If it is aborted, a queued task leaves the queue. */
  signal?: AbortSignal;
  /**
   * Whether aborting the signal also ends a running task, after `ABANDONED_MS`. Only for tasks without side effects.
   */
  isAbandonable?: boolean;
}

/** Grace period of an abandoned task: starting a new process would take nearly as long. */
const ABANDONED_MS = 1_000;

/**
 * Processes other than the first end sooner when idle: each uses 40 to 70 MB, and the load that needed it does not
 * last.
 */
const SPARE_IDLE_MS = 5_000;

/** Access of a task to its process. */
export interface Lease {
  /**
   * Returns the process, or starts a new one if it has ended. Throws if the pool is closed or no process can be
   * started.
   */
  process(): Promise<ConfinedProcess>;
  /** Ends the process, so that the rest of its output is not read as the next response. */
  discard(): Promise<void>;
}

/** Cost of a task. */
export interface Cost {
  waitedMs: number;
  /** CPU time, including the start of a process. */
  usedMs: number;
}

export interface ProcessPool {
  /**
   * Calls `work` with a process as soon as one is free. If `work` throws, the process ends. Throws the errors of
   * `work`, the reason of an aborted signal, and if the pool is closed. `onDone` gets the cost of the task whether it
   * succeeded or failed, but not if it never ran.
   */
  withProcess<T>(task: Task, work: (lease: Lease) => Promise<T>, onDone?: (cost: Cost) => void): Promise<T>;
  /**
   * Fails queued tasks, and from now on tasks that would have to queue, because the service is stopping. Running tasks
   * continue.
   */
  refuseWaiting(): void;
  /** Throws if the pool is closed. */
  assertOpen(): void;
  /** Ends the processes; queued and running work fails. */
  close(): Promise<void>;
}

/** A place for one process, and its last task. */
interface Slot extends ProcessSlot {
  task: Task | undefined;
  /** Tasks of this context that have run in a row. */
  consecutive: number;
}

/** Opens a pool of processes with a fair queue of owners. Processes start on demand and end when idle. */
export function openProcessPool(options: PoolOptions): ProcessPool {
  const { processes, perOwner, consecutive } = options;
  const spare = { ...options, idleMs: Math.min(options.idleMs, SPARE_IDLE_MS) };
  const all: Slot[] = Array.from({ length: processes }, (_, index) => {
    return Object.assign(openSlot(index === 0 ? options : spare), { task: undefined, consecutive: 0 });
  });
  const free = [...all];
  const queue = new FairQueue({ tenant: perOwner, all: processes, refusal: stopping });
  let isClosed = false;

  /** Frees the slot of a task, and charges its owner for the time that replacing the process took too. */
  async function release(slot: Slot, turn: Turn, usedMs: number): Promise<void> {
    const spentMs = usedMs + (await slot.rest());
    free.unshift(slot);
    queue.leave(turn, spentMs, slot.consecutive < consecutive ? slot.task?.context : undefined);
  }

  /** The queue has as many turns as there are processes, so one is free. */
  function takeSlot(task: Task): Slot {
    const slot = takeFreeSlot(free, task);
    slot.consecutive = slot.task?.context === task.context ? slot.consecutive + 1 : 0;
    return slot;
  }

  async function withProcess<T>(
    task: Task,
    work: (lease: Lease) => Promise<T>,
    onDone: (cost: Cost) => void = () => undefined,
  ): Promise<T> {
    assertOpen();
    task.signal?.throwIfAborted();
    const asked = performance.now();
    const { owner, signal, rank, context } = task;
    const turn = await queue.enter(owner, signal && (() => signal), { cost: 1, rank, context });
    const slot = takeSlot(task);
    const waitedMs = performance.now() - asked;
    const abandoned = task.isAbandonable ? task.signal : undefined;
    const stopWatching = endIfAbandoned(abandoned, slot.end);
    let isDone = false;
    try {
      abandoned?.throwIfAborted();
      const result = await work(leaseOf(slot, task));
      assertOpen();
      isDone = true;
      return result;
    } catch (error) {
      throw isClosed ? stopping() : error;
    } finally {
      stopWatching();
      if (!isDone) await slot.end();
      const usedMs = slot.charge();
      onDone({ waitedMs, usedMs });
      void release(slot, turn, usedMs);
    }
  }

  function assertOpen(): void {
    if (isClosed) throw stopping();
  }

  return {
    withProcess,
    assertOpen,
    refuseWaiting: () => queue.refuseWaiting(),
    async close() {
      isClosed = true;
      queue.refuseWaiting();
      await Promise.all(all.map((slot) => slot.close()));
    },
  };
}

/**
 * Takes a free slot, in order of preference: with a process of the same context, with a process of another one, without
 * one.
 */
function takeFreeSlot(free: Slot[], task: Task): Slot {
  const own = free.findIndex((slot) => slot.task?.context === task.context && slot.isRunning());
  const live = own >= 0 ? own : free.findIndex((slot) => slot.isRunning());
  return free.splice(Math.max(live, 0), 1)[0] as Slot;
}

function leaseOf(slot: Slot, task: Task): Lease {
  return {
    process() {
      slot.task = task;
      return slot.processFor(task.context);
    },
    discard: slot.end,
  };
}

/**
 * Calls `end` if the signal is aborted before the returned function is called, but not before `ABANDONED_MS` have
 * passed.
 */
function endIfAbandoned(signal: AbortSignal | undefined, end: () => Promise<void>): () => void {
  if (!signal) return () => undefined;
  const earliest = performance.now() + ABANDONED_MS;
  let timer: NodeJS.Timeout | undefined;
  const abandon = () => {
    timer = setTimeout(() => void end(), Math.max(earliest - performance.now(), 0));
  };
  signal.addEventListener('abort', abandon, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abandon);
  };
}
