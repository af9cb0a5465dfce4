import { type ConfinedProcess, type ProcessLimits, startConfinedProcess } from './confined-process.ts';

/** A process is replaced after this many documents, so that leaks and state do not accumulate. */
const MAX_DOCUMENTS_PER_PROCESS = 100;

/** How many documents of one upload are read before a waiting document of another upload. */
const MAX_CONSECUTIVE_DOCUMENTS = 5;

/** A caller that waits for a slot. */
interface Waiter {
  owner: string;
  take(slot: Slot): void;
}

/**
 * Changing the upload replaces the process. One upload therefore gets several documents in succession, but a limited
 * number.
 */
function takeNextWaiter(waiting: Waiter[], { owner, consecutive }: Slot): Waiter | undefined {
  const own = waiting.findIndex((one) => one.owner === owner);
  const other = waiting.findIndex((one) => one.owner !== owner);
  const at = own >= 0 && (other < 0 || consecutive < MAX_CONSECUTIVE_DOCUMENTS) ? own : other;
  return at < 0 ? undefined : waiting.splice(at, 1)[0];
}

/** A slot for one process, and the upload that it works for. */
interface Slot {
  owner: string;
  /** How many documents of this upload were read in succession. */
  consecutive: number;
  process: ConfinedProcess | undefined;
  idle: NodeJS.Timeout | undefined;
}

async function endProcess(slot: Slot): Promise<void> {
  clearTimeout(slot.idle);
  const ending = slot.process;
  slot.process = undefined;
  await ending?.end();
}

export interface ProcessPool {
  /**
   * Calls `work` with a process that serves no other owner, when a slot is free. If `work` throws or returns `isSound:
   * false`, the process ends, so that the rest of its output is not read as the next response. Throws the errors of
   * `work`, and if the pool is closed or no process can be started.
   */
  withProcess<T>(
    owner: string,
    work: (process: ConfinedProcess) => Promise<{ isSound: boolean; answer: T }>,
  ): Promise<T>;
  /** Throws if the pool is closed. */
  assertOpen(): void;
  /** Ends the processes; pending and running work fails. */
  close(): Promise<void>;
}

/** A pool of at most `processes` processes. Each starts on demand and ends after `idleMs` without work. */
export function openProcessPool({
  processes,
  idleMs,
  limits,
}: {
  processes: number;
  idleMs: number;
  limits: ProcessLimits;
}): ProcessPool {
  const free: Slot[] = Array.from({ length: processes }, () => ({
    owner: '',
    consecutive: 0,
    process: undefined,
    idle: undefined,
  }));
  const all = [...free];
  const waiting: Waiter[] = [];
  let isClosed = false;

  async function acquireSlot(owner: string): Promise<Slot> {
    const at = free.findIndex((slot) => slot.owner === owner);
    const [slot] = at >= 0 ? free.splice(at, 1) : free.splice(0, 1);
    return slot ?? new Promise((take) => waiting.push({ owner, take }));
  }

  function releaseSlot(slot: Slot): void {
    slot.idle = setTimeout(() => endProcess(slot), idleMs).unref();
    const next = takeNextWaiter(waiting, slot);
    if (!next) return void free.unshift(slot);
    slot.consecutive = next.owner === slot.owner ? slot.consecutive + 1 : 0;
    next.take(slot);
  }

  async function processFor(slot: Slot, owner: string): Promise<ConfinedProcess> {
    clearTimeout(slot.idle);
    if (slot.owner !== owner || (slot.process?.documentsSent ?? 0) >= MAX_DOCUMENTS_PER_PROCESS) await endProcess(slot);
    assertOpen();
    slot.owner = owner;
    slot.process ??= await startConfinedProcess(limits);
    return slot.process;
  }

  async function withProcess<T>(
    owner: string,
    work: (process: ConfinedProcess) => Promise<{ isSound: boolean; answer: T }>,
  ): Promise<T> {
    assertOpen();
    const slot = await acquireSlot(owner);
    let isSound = false;
    try {
      const done = await work(await processFor(slot, owner));
      assertOpen();
      isSound = done.isSound;
      return done.answer;
    } finally {
      if (!isSound) await endProcess(slot);
      releaseSlot(slot);
    }
  }

  function assertOpen(): void {
    if (isClosed) throw new Error('the reader of documents is closed');
  }

  return {
    withProcess,
    assertOpen,
    async close() {
      isClosed = true;
      await Promise.all(all.map(endProcess));
    },
  };
}
