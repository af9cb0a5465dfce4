import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';

/** A server that has not ended a statement this long after the time that it was told to end it does not answer at all. */
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
 * What `send` answers on the connection. Without an answer SILENCE_MS after `ms` the connection is ended, and so fails what waits
 * for it. All share one timer: one for each statement would cost more than sending it.
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
  // After this process was busy for long, the answer may have arrived and not have been read.
  await turn();
  await turn();
  for (const each of silent) {
    if (!awaited.delete(each)) continue;
    const { stream } = (each.client as unknown as { connection: { stream: { destroy(error: Error): void } } })
      .connection;
    stream.destroy(new Error('Connection terminated: the database server does not answer'));
  }
}
