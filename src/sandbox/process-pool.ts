import { type ConfinedProcess, type ProcessBounds, startConfinedProcess } from './confined-process.ts';

/** A process is replaced after this many documents, so that leaks and state do not accumulate. */
const DOCUMENTS_MAX = 100;

/** How many documents of one upload are read before a waiting document of another upload. */
const DOCUMENTS_A_TURN = 5;

/** A caller that waits for a slot. */
interface Waiting {
  owner: string;
  take(seat: Seat): void;
}

/**
 * Changing the upload replaces the process. One upload therefore gets several documents in succession, but a limited
 * number.
 */
function nextOf(waiting: Waiting[], { owner, turn }: Seat): Waiting | undefined {
  const own = waiting.findIndex((one) => one.owner === owner);
  const other = waiting.findIndex((one) => one.owner !== owner);
  const at = own >= 0 && (other < 0 || turn < DOCUMENTS_A_TURN) ? own : other;
  return at < 0 ? undefined : waiting.splice(at, 1)[0];
}

/** A slot for one process, and the upload that it works for. */
interface Seat {
  owner: string;
  /** How many documents of this upload were read in succession. */
  turn: number;
  process: ConfinedProcess | undefined;
  idle: NodeJS.Timeout | undefined;
}

async function endSeat(seat: Seat): Promise<void> {
  clearTimeout(seat.idle);
  const ending = seat.process;
  seat.process = undefined;
  await ending?.end();
}

export interface ProcessPool {
  /**
   * Calls `work` with a process that serves no other owner, when a slot is free. If `work` throws or returns `isSound:
   * false`, the process ends, so that the rest of its output is not read as the next response. Throws the errors of
   * `work`, and if the pool is closed or no process can be started.
   */
  withProcess<T>(owner: string, work: (asked: ConfinedProcess) => Promise<{ isSound: boolean; answer: T }>): Promise<T>;
  /** Throws if the pool is closed. */
  assertOpen(): void;
  /** Ends the processes; pending and running work fails. */
  close(): Promise<void>;
}

/** A pool of at most `processes` processes. Each starts on demand and ends after `idleMs` without work. */
export function openProcessPool({
  processes,
  idle_ms,
  bounds,
}: {
  processes: number;
  idle_ms: number;
  bounds: ProcessBounds;
}): ProcessPool {
  const free: Seat[] = Array.from({ length: processes }, () => ({
    owner: '',
    turn: 0,
    process: undefined,
    idle: undefined,
  }));
  const all = [...free];
  const waiting: Waiting[] = [];
  let isClosed = false;

  async function seatFor(owner: string): Promise<Seat> {
    const at = free.findIndex((seat) => seat.owner === owner);
    const [seat] = at >= 0 ? free.splice(at, 1) : free.splice(0, 1);
    return seat ?? new Promise((take) => waiting.push({ owner, take }));
  }

  function giveBack(seat: Seat): void {
    seat.idle = setTimeout(() => endSeat(seat), idle_ms).unref();
    const next = nextOf(waiting, seat);
    if (!next) return void free.unshift(seat);
    seat.turn = next.owner === seat.owner ? seat.turn + 1 : 0;
    next.take(seat);
  }

  async function processOf(seat: Seat, owner: string): Promise<ConfinedProcess> {
    clearTimeout(seat.idle);
    if (seat.owner !== owner || (seat.process?.asked ?? 0) >= DOCUMENTS_MAX) await endSeat(seat);
    assertOpen();
    seat.owner = owner;
    seat.process ??= await startConfinedProcess(bounds);
    return seat.process;
  }

  async function withProcess<T>(
    owner: string,
    work: (asked: ConfinedProcess) => Promise<{ isSound: boolean; answer: T }>,
  ): Promise<T> {
    assertOpen();
    const seat = await seatFor(owner);
    let isSound = false;
    try {
      const done = await work(await processOf(seat, owner));
      assertOpen();
      isSound = done.isSound;
      return done.answer;
    } finally {
      if (!isSound) await endSeat(seat);
      giveBack(seat);
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
      await Promise.all(all.map(endSeat));
    },
  };
}
