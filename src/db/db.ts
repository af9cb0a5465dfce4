import pg from 'pg';
import { type Sql, toStatement } from './sql.ts';

export type Row = Record<string, unknown>;

/** Runs one statement and answers its rows. */
export type Query = <T = Row>(statement: Sql) => Promise<T[]>;

export interface Db {
  query: Query;
  /**
   * Runs `work` between begin and commit on one connection; whatever it throws undoes everything.
   * `runScript` takes a text of several statements without values: a migration.
   */
  transaction<T>(work: (query: Query, runScript: (text: string) => Promise<void>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DbOptions {
  connection: pg.PoolConfig;
  /** Connections at most. */
  connections?: number;
  /** Called with the text and the values of each statement that is sent; tests and measurements count with it. */
  observe?: (text: string, values: readonly unknown[]) => void;
  /** Called when an idle connection breaks, which the pool itself mends. */
  onConnectionLost?: (error: Error) => void;
}

/**
 * The session settings of every connection. Statements are prepared once and keyed by ids, so a generic plan is the
 * right one and planning again for each call would cost more than running it.
 */
export const SESSION_SETTINGS =
  '-c plan_cache_mode=force_generic_plan -c jit=off -c timezone=UTC -c statement_timeout=30s ' +
  '-c idle_in_transaction_session_timeout=30s -c client_min_messages=warning';

const TIMESTAMPTZ = 1184;
const INT8 = 20;
const NUMERIC = 1700;

/**
 * PostgreSQL's text for a timestamp in UTC (`2026-11-21 05:29:32.1+00`) as RFC 3339 with milliseconds
 * (`2026-11-21T05:29:32.100Z`), without the detour through a Date.
 */
export function timestampFromText(text: string): string {
  const fraction = text.charCodeAt(19) === 46 ? text.slice(20, text.indexOf('+', 20)) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

const parsers = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, timestampFromText],
  [INT8, Number],
  [NUMERIC, Number],
]);

/** How values are read: timestamps as the API writes them, numbers as numbers. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers.get(oid) ?? pg.types.getTypeParser(oid, format ?? 'text')) as pg.CustomTypesConfig['getTypeParser'],
};

export function openDb(options: DbOptions): Db {
  const pool = new pg.Pool({
    ...options.connection,
    max: options.connections ?? 10,
    idleTimeoutMillis: 10_000,
    connectionTimeoutMillis: 5_000,
    options: SESSION_SETTINGS,
    types,
  });
  let closed = false;
  pool.on('error', (error: Error & { client?: unknown }) => {
    // The pool does not wait for its connections to be closed, so the server may still end them.
    if (closed) return;
    // The driver hangs the whole connection on it, which is nothing for a log.
    delete error.client;
    options.onConnectionLost?.(error);
  });

  const names = new Map<string, string>();
  function nameOf(text: string): string {
    let name = names.get(text);
    if (name === undefined) names.set(text, (name = `s${names.size}`));
    return name;
  }

  function run<T>(client: pg.Pool | pg.PoolClient, statement: Sql): Promise<T[]> {
    const { text, values } = toStatement(statement);
    options.observe?.(text, values);
    return client.query({ name: nameOf(text), text, values }).then((result) => result.rows as T[]);
  }

  return {
    query: (statement) => run(pool, statement),
    async transaction(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      // The statement that is under way fails with it too; an error event that nobody listens to ends the process.
      const onError = (error: Error) => {
        broken = error;
      };
      client.on('error', onError);
      try {
        options.observe?.('begin', []);
        await client.query('begin');
        const result = await work(
          (statement) => run(client, statement),
          (text) => client.query(text).then(() => undefined),
        );
        options.observe?.('commit', []);
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch((rollbackError: Error) => {
          broken = rollbackError;
        });
        throw error;
      } finally {
        client.off('error', onError);
        client.release(broken);
      }
    },
    close() {
      closed = true;
      return pool.end();
    },
  };
}
