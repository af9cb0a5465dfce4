import type pg from 'pg';
import { FormerPrimary } from './replicas/timelines.ts';

/** How long an unused connection is held before it is released to the pool, which closes it after a while. */
const KEPT_MS = 1_000;

/**
 * The connections of a pool. Returned connections are held for a moment, because checking one out of the pool and back
 * in costs two timers and several listeners, more than sending a statement.
 */
export interface Connections {
  /** Takes a connection; returns a promise if none is held. Throws the errors of `connect`. */
  take(): pg.PoolClient | Promise<pg.PoolClient>;
  /** Must be called once for each taken connection. Closes it if it broke while in use, or if `broken` is given. */
  giveBack(client: pg.PoolClient, broken?: Error): void;
  /** Closes all connections; connections in use are closed when they are returned. */
  close(): Promise<void>;
}

/**
 * `connect` takes a connection from the pool. `onLost` is called when an unused connection breaks; the pool replaces
 * it. `isPast` tells whether a connection must not be used any more.
 */
export function openConnections(
  pool: pg.Pool,
  connect: () => Promise<pg.PoolClient>,
  onLost: (error: Error) => void,
  isPast: (client: pg.PoolClient) => boolean,
): Connections {
  /** A stack: the last connection used is taken next, so that the others become idle. */
  const atHand: { client: pg.PoolClient; since: number }[] = [];
  const watched = new Map<pg.PoolClient, { broken: Error | undefined; stopWatching(): void }>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function takeNew(): Promise<pg.PoolClient> {
    const client = await connect();
    const state = { broken: undefined as Error | undefined, stopWatching: () => void client.off('error', onError) };
    // An error event without a listener would end the process. A running statement fails by itself.
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

  /** Releases to the pool all connections unused since `before`, on the clock of performance.now(). */
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
