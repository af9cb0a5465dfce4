import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';

/** A server that has not ended a statement this long after its time limit counts as unresponsive. */
const SILENCE_MS = 2_000;
const LOOK_MS = 500;

interface Awaited {
  client: pg.ClientBase;
  /** On the clock of performance.now(). */
  until: number;
}

const awaited = new Set<Awaited>();
let timer: NodeJS.Timeout | undefined;

/**
 * Returns the result of `send`. Without an answer within `ms` + SILENCE_MS, closes the connection, which fails
 * everything that waits for it. All calls share one timer, because a timer per statement would cost more than sending
 * it.
 */
export async function answeredWithin<T>(client: pg.ClientBase, ms: number, send: () => Promise<T>): Promise<T> {
  const waiting = { client, until: performance.now() + ms + SILENCE_MS };
  awaited.add(waiting);
  timer ??= setInterval(endSilent, LOOK_MS).unref();
  try {
    return await send();
  } finally {
    awaited.delete(waiting);
  }
}

async function endSilent(): Promise<void> {
  if (awaited.size === 0) {
    clearInterval(timer);
    timer = undefined;
    return;
  }
  const now = performance.now();
  const silent = [...awaited].filter(({ until }) => until < now);
  if (silent.length === 0) return;
  // If this process was blocked, the answer may have arrived without having been read.
  await turn();
  await turn();
  for (const each of silent) {
    if (!awaited.delete(each)) continue;
    const { stream } = (each.client as unknown as { connection: { stream: { destroy(error: Error): void } } })
      .connection;
    stream.destroy(new Error('Connection terminated: the database server does not answer'));
  }
}
