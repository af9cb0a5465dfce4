import { FairQueue, type Turn } from '../core/queue/fair-queue.ts';
import type { ConfinedProcess } from './confined-process.ts';
import { closed, openSlot, type ProcessSlot, type SlotOptions } from './process-slot.ts';

export interface PoolOptions extends SlotOptions {
  /** The largest number of processes. */
  processes: number;
  /** How many of them one owner may occupy at a time. */
  perOwner: number;
  /** How many tasks with one context run in succession while other owners wait, since changing it costs something. */
  consecutive: number;
}

/** Work that needs a process. */
export interface Task {
  /** The workspace. */
  owner: string;
  /** What the process keeps between tasks: an upload. */
  context: string;
  /** Within one owner a lower number goes first. */
  rank: number;
  /** When it is aborted, a task that waits leaves the queue. */
  signal?: AbortSignal;
  /** Whether it is then also ended when it has begun, after `ABANDONED_MS`: nothing else follows from it. */
  isAbandonable?: boolean;
}

/** How long abandoned work may go on: starting a new process would take nearly as long. */
const ABANDONED_MS = 1_000;

/** A process beside the first one ends sooner without work: it has 40 to 70 MB, and what it was started for does not last. */
const SPARE_IDLE_MS = 5_000;

/** The process of a task. */
export interface Lease {
  /** The process; a new one if the last one has ended. Throws if the pool is closed or none can be started. */
  process(): Promise<ConfinedProcess>;
  /** Ends the process, so that the rest of its output is not read as the next response. */
  discard(): Promise<void>;
}

/** What a task cost. */
export interface Cost {
  waitedMs: number;
  /** CPU time, including that of starting a process. */
  usedMs: number;
}

export interface ProcessPool {
  /**
   * Calls `work` with a process when one is free. If `work` throws, the process ends. Throws the errors of `work`, the
   * reason of an aborted signal, and if the pool is closed. `onDone` is told what it cost, whatever came of it, unless it
   * never ran.
   */
  withProcess<T>(task: Task, work: (lease: Lease) => Promise<T>, onDone?: (cost: Cost) => void): Promise<T>;
  /** Fails what waits for a process, and what would have to wait later: the service stops. What has begun goes on. */
  refuseWaiting(): void;
  /** Throws if the pool is closed. */
  assertOpen(): void;
  /** Ends the processes; pending and running work fails. */
  close(): Promise<void>;
}

/** A place for one process, with its last task. */
interface Slot extends ProcessSlot {
  task: Task | undefined;
  /** How many tasks of this context have run in succession. */
  consecutive: number;
}

/** A pool of processes that is fair by owner. Each starts on demand and ends when it is idle. */
export function openProcessPool(options: PoolOptions): ProcessPool {
  const { processes, perOwner, consecutive } = options;
  const spare = { ...options, idleMs: Math.min(options.idleMs, SPARE_IDLE_MS) };
  const all: Slot[] = Array.from({ length: processes }, (_, index) => {
    return Object.assign(openSlot(index === 0 ? options : spare), { task: undefined, consecutive: 0 });
  });
  const free = [...all];
  const queue = new FairQueue({ tenant: perOwner, all: processes, refusal: closed });
  let isClosed = false;

  /** Makes the slot of a task free, and charges the owner what the task has cost. */
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
      throw isClosed ? closed() : error;
    } finally {
      stopWatching();
      if (!isDone) await slot.end();
      const usedMs = slot.charge();
      onDone({ waitedMs, usedMs });
      void release(slot, turn, usedMs);
    }
  }

  function assertOpen(): void {
    if (isClosed) throw closed();
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

/** Takes of the free slots one whose process runs with the same context, else another; one without a process if none runs. */
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

/** Calls `end` if the signal is aborted before the returned function is called, but not before `ABANDONED_MS`. */
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
