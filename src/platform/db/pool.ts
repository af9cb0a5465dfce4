import pg from 'pg';
import { sessionTarget } from '../core/database-url.ts';
import { type Connections, openConnections } from './connections.ts';
import { types } from './pg-types.ts';
import { FormerPrimary, type Timelines } from './replicas/timelines.ts';
import { ANSWER_TIMEOUT_MS, checkWritable, openServers } from './servers.ts';
import { answeredWithin } from './silence.ts';
import { type Sql, toStatement } from './sql.ts';

export interface DbOptions {
  connection: pg.PoolConfig;
  connections?: number;
  /** Called with the text and the values of each statement that is sent; tests and benchmarks use it for counting. */
  observe?: (text: string, values: readonly unknown[]) => void;
  /** Changes the text of each statement before it is sent; tests use it to inject faults. */
  rewrite?: (text: string) => string;
  /** Called when an idle connection breaks; the pool replaces it. */
  onConnectionLost?: (error: Error) => void;
  /** The timelines known to this process. Connections to a former primary are not used. */
  timelines?: Timelines | undefined;
}

/** Maximum number of prepared statements; further ones are parsed each time. The service has a few hundred. */
const STATEMENTS_MAX = 2_000;

/** Default maximum number of connections. */
export const CONNECTIONS = 10;

/** Waiting for a free connection takes as long as a statement may; connecting fails fast. */
const POOL_TIMEOUT_MS = 30_000;

/**
 * After this time without traffic the system probes the server every second, and drops the connection after ten probes.
 */
const KEEP_ALIVE_MS = 10_000;

/** Returns a client class that connects to `server()`, evaluated when the connection is opened. */
const clientOf = (server: () => string | undefined) =>
  class extends pg.Client {
    constructor(options: pg.ClientConfig = {}) {
      const connectionString = server() ?? options.connectionString;
      super({
        ...options,
        ...(connectionString !== undefined && { connectionString }),
        // The password is not an enumerable option of the pool, so the spread does not copy it.
        password: options.password,
        // The pool has a single limit for both waiting and connecting.
        connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      });
    }
  };

/**
 * Opens a pool of connections that prepare each statement once. Reports sent statements and lost connections as the
 * options say.
 */
export function openPool(options: DbOptions, { onConnect, ...settings }: pg.PoolConfig) {
  const { connectionString } = options.connection;
  const servers = openServers(connectionString);
  const needsWrites = connectionString !== undefined && sessionTarget(connectionString) !== 'any';
  const pool = new pg.Pool({
    ...options.connection,
    max: options.connections ?? CONNECTIONS,
    idleTimeoutMillis: 10_000,
    connectionTimeoutMillis: POOL_TIMEOUT_MS,
    Client: clientOf(servers.current),
    types,
    ...settings,
    onConnect: (client) =>
      answeredWithin(client, ANSWER_TIMEOUT_MS, async () => {
        if (needsWrites) await checkWritable(client);
        await options.timelines?.check(client);
        await onConnect?.(client);
      }),
  });
  let closed = false;
  const onLost = (error: Error & { client?: unknown }) => {
    // The pool does not wait for its connections to close, so the server may still end them.
    if (closed) return;
    // The driver attaches the whole connection to the error; it does not belong in a log.
    delete error.client;
    options.onConnectionLost?.(error);
  };
  pool.on('error', onLost);
  const isPast = (client: pg.PoolClient) => options.timelines?.isPast(client) === true;
  const connect = async () => {
    for (;;) {
      const client = await pool.connect();
      if (!isPast(client)) return client;
      // The connection was idle. The pool opens another one.
      client.release(new FormerPrimary());
    }
  };
  const connections = openConnections(pool, () => servers.tryEach(connect), onLost, isPast);
  const names = new Map<string, string>();
  return {
    connections,
    /** Returns the statement as a prepared statement, identified by its text. */
    prepare(statement: Sql) {
      const { text: written, values } = toStatement(statement);
      const text = options.rewrite?.(written) ?? written;
      options.observe?.(text, values);
      let name = names.get(text);
      if (name === undefined && names.size < STATEMENTS_MAX) names.set(text, (name = `s${names.size}`));
      return { name, text, values };
    },
    close() {
      closed = true;
      return connections.close();
    },
  };
}

export async function inTransaction<T>(
  connections: Connections,
  options: DbOptions,
  work: (client: pg.PoolClient) => Promise<T>,
  begin = 'begin',
  commitMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  return onConnection(connections, async (client, discard) => {
    try {
      options.observe?.(begin, []);
      await answeredWithin(client, ANSWER_TIMEOUT_MS, () => client.query(begin));
      const result = await work(client);
      if (options.timelines?.isPast(client)) throw new FormerPrimary();
      options.observe?.('commit', []);
      await answeredWithin(client, commitMs, () => client.query('commit'));
      return result;
    } catch (error) {
      // The server was a primary when the connection was opened.
      if ((error as { code?: string }).code === READ_ONLY) discard(error as Error);
      options.observe?.('rollback', []);
      await answeredWithin(client, ANSWER_TIMEOUT_MS, () => client.query('rollback')).catch(discard);
      throw error;
    }
  });
}

/** SQLSTATE of a write that a standby refuses. */
const READ_ONLY = '25006';

/** A refusal by the guard, an invalid value, a violated constraint or a conflict: the connection stays usable. */
const STATEMENT_ERRORS = /^(IB|22|23|40)/;

/**
 * Sends one statement. The pool's own `query` closes the connection after every failed statement, including a refused
 * write, and the next connection would have to prepare all statements again.
 */
export async function sendOne<T>(connections: Connections, send: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const taken = connections.take();
  const client = taken instanceof Promise ? await taken : taken;
  let broken: Error | undefined;
  try {
    return await send(client);
  } catch (error) {
    if (!STATEMENT_ERRORS.test((error as { code?: string }).code ?? '')) broken = error as Error;
    throw error;
  } finally {
    connections.giveBack(client, broken);
  }
}

/** Runs `work` on a connection, then gives the connection back; closes it instead if it broke or `discard` was called. */
export async function onConnection<T>(
  connections: Connections,
  work: (client: pg.PoolClient, discard: (error: Error) => void) => Promise<T>,
): Promise<T> {
  const client = await connections.take();
  let broken: Error | undefined;
  try {
    return await work(client, (error) => {
      broken = error;
    });
  } finally {
    connections.giveBack(client, broken);
  }
}
