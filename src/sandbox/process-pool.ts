import { type ConfinedProcess, type ProcessBounds, startConfinedProcess } from './confined-process.ts';

/** After so many documents a process is replaced: whatever it kept of them is gone. */
const DOCUMENTS_MAX = 100;

/** So many documents of one upload are read before one of another that waits. */
const DOCUMENTS_A_TURN = 5;

/** Who waits for a seat. */
interface Waiting {
  owner: string;
  take(seat: Seat): void;
}

/** Another upload needs another process, so an upload has several documents read while others wait, but not all. */
function nextOf(waiting: Waiting[], { owner, turn }: Seat): Waiting | undefined {
  const own = waiting.findIndex((one) => one.owner === owner);
  const other = waiting.findIndex((one) => one.owner !== owner);
  const at = own >= 0 && (other < 0 || turn < DOCUMENTS_A_TURN) ? own : other;
  return at < 0 ? undefined : waiting.splice(at, 1)[0];
}

/** A place for a process, and for whom it works. */
interface Seat {
  owner: string;
  /** How many documents of that upload it has read one behind the other. */
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
   * Does `work` with a process that works for no other owner, when it is its turn. What throws, or answers that it is not
   * sound, ends the process: what it still has to say is not for the next document. Throws what `work` throws, and if the
   * seats are closed or no process can be started.
   */
  withProcess<T>(owner: string, work: (asked: ConfinedProcess) => Promise<{ isSound: boolean; answer: T }>): Promise<T>;
  /** Throws if the seats are closed. */
  assertOpen(): void;
  /** Ends the processes; what still waits or runs is refused. */
  close(): Promise<void>;
}

/** So many processes, started when there is work for one and ended when there has been none for a while. */
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
