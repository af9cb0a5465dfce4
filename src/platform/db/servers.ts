import type pg from 'pg';
import { splitServers } from '../core/database-url.ts';

/** The server of a new connection does not take writes, and the address asks for one that does. */
class ReadOnlyServer extends Error {
  override name = 'ReadOnlyServer';
  /** The SQLSTATE of a connection that was rejected. */
  readonly code = '08004';
}

/** How long a server may take to answer what costs it nothing. One that takes longer is down. */
export const ANSWER_TIMEOUT_MS = 5_000;

/** Errors: ReadOnlyServer. */
export async function checkWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query('show transaction_read_only');
  if (rows[0]?.transaction_read_only !== 'off') {
    throw new ReadOnlyServer('The database server takes no writes: it is a standby, or was made read-only.');
  }
}

/**
 * Which of several servers the next connection goes to: the one that was good last, and after a failure the one behind it.
 * Several connections that fail at once move on by one server only.
 */
export interface Servers {
  /** undefined: where the other options of the connection say. */
  current(): string | undefined;
  /** Connects; each server is tried once. Errors: those of the last one. */
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
