import type pg from 'pg';
import { splitServers } from '../core/database-url.ts';

/** Thrown if the server of a new connection is read-only but the URL requires a writable one. */
class ReadOnlyServer extends Error {
  override name = 'ReadOnlyServer';
  /** SQLSTATE of a rejected connection. */
  readonly code = '08004';
}

/** Time limit for trivial requests to a server; a slower server counts as down. */
export const ANSWER_TIMEOUT_MS = 5_000;

/** Throws ReadOnlyServer. */
export async function checkWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query('show transaction_read_only');
  if (rows[0]?.transaction_read_only !== 'off') {
    throw new ReadOnlyServer('The database server takes no writes: it is a standby, or was made read-only.');
  }
}

/**
 * Chooses the server for the next connection: the last one that worked, and after a failure the next in the list.
 * Concurrent failures advance by one server only.
 */
export interface Servers {
  /** undefined if the other options of the connection determine the server. */
  current(): string | undefined;
  /** Connects, trying each server once. Throws the error of the last one. */
  tryEach<T>(connect: () => Promise<T>): Promise<T>;
}

export function openServers(url: string | undefined): Servers {
  const urls = url === undefined ? [undefined] : splitServers(url);
  let index = 0;
  return {
    current: () => urls[index],
    async tryEach(connect) {
      for (let attempt = 1; ; attempt += 1) {
        const tried = index;
        try {
          return await connect();
        } catch (error) {
          if (index === tried) index = (tried + 1) % urls.length;
          if (attempt >= urls.length) throw error;
        }
      }
    },
  };
}
