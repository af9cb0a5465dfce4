import type pg from 'pg';
import { FormerPrimary } from './replicas/timelines.ts';

/** How long a connection is kept at hand without work before the pool has it back, which closes it after a while. */
const KEPT_MS = 1_000;

/**
 * The connections of a pool. Those that are given back stay at hand for a moment: taking one from the pool and giving it back
 * costs two timers and several listeners, more than sending a statement.
 */
export interface Connections {
  /** A connection; a promise where none is at hand. Errors: those of `connect`. */
  take(): pg.PoolClient | Promise<pg.PoolClient>;
  /** Must be called once for each that was taken. It is closed if it has broken meanwhile, or for `broken`. */
  giveBack(client: pg.PoolClient, broken?: Error): void;
  /** Closes all of them, those in use when they are given back. */
  close(): Promise<void>;
}

/**
 * `connect`: takes one from the pool. `onLost`: called when one breaks that nothing uses; the pool replaces it. `isPast`: whether one
 * must not be used any more.
 */
export function openConnections(
  pool: pg.Pool,
  connect: () => Promise<pg.PoolClient>,
  onLost: (error: Error) => void,
  isPast: (client: pg.PoolClient) => boolean,
): Connections {
  /** The last one used is the next one taken, so that the others become idle. */
  const atHand: { client: pg.PoolClient; since: number }[] = [];
  const watched = new Map<pg.PoolClient, { broken: Error | undefined; stopWatching(): void }>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function takeNew(): Promise<pg.PoolClient> {
    const client = await connect();
    const state = { broken: undefined as Error | undefined, stopWatching: () => void client.off('error', onError) };
    // An error event without a listener would end the process. A statement that runs fails by itself.
    const onError = (error: Error) => {
      state.broken = error;
      const index = atHand.findIndex((each) => each.client === client);
      if (index < 0) return;
      atHand.splice(index, 1);
      release(client);
      if (!isClosed) onLost(error);
    };
    watched.set(client, state);
    client.on('error', onError);
    return client;
  }

  function release(client: pg.PoolClient, error = watched.get(client)?.broken): void {
    watched.get(client)?.stopWatching();
    watched.delete(client);
    client.release(error);
  }

  /** Gives the pool those that were not used lately; `before` is on the clock of performance.now(). */
  function releaseUnused(before: number): void {
    while (atHand[0] && atHand[0].since <= before) release((atHand.shift() as { client: pg.PoolClient }).client);
    if (atHand.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    take() {
      for (let kept = atHand.pop(); kept; kept = atHand.pop()) {
        if (!isPast(kept.client)) return kept.client;
        release(kept.client, new FormerPrimary());
      }
      return takeNew();
    },
    giveBack(client, broken = watched.get(client)?.broken) {
      if (broken || isClosed || pool.waitingCount > 0) return release(client, broken);
      atHand.push({ client, since: performance.now() });
      timer ??= setInterval(() => releaseUnused(performance.now() - KEPT_MS), KEPT_MS).unref();
    },
    close() {
      isClosed = true;
      releaseUnused(Number.POSITIVE_INFINITY);
      return pool.end();
    },
  };
}
