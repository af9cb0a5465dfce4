import { sendOne } from '../pool.ts';
import { type PreparedStatement, sendPrepared } from '../prepared-query.ts';
import type { WalPosition } from '../request-context.ts';
import { ANSWER_TIMEOUT_MS } from '../servers.ts';
import { openServicePool, type ServiceDbOptions } from '../service-session.ts';
import { answeredWithin } from '../silence.ts';
import { type Sql, sql } from '../sql.ts';

/** Asks the primary for its current position in the write-ahead log. */
export interface WalPositions {
  /**
   * Returns a position after everything that was committed before the call. Callers share queries: a call made while a
   * query is in flight waits for the next query, because the running one may already have read the position. Throws the
   * errors of the connection.
   */
  current(): Promise<WalPosition>;
  close(): Promise<void>;
}

/**
 * Other transactions see a commit only after its flush, unless it is asynchronous. The name of a WAL segment starts
 * with the timeline of the primary.
 */
const POSITION = sql`
  select case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
      else pg_current_wal_flush_lsn() end::text as lsn,
    left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) as timeline`;

/** Opens a separate connection, so that the query never waits for other statements. */
export function openWalPositions(options: ServiceDbOptions): WalPositions {
  const { connections, prepare, close } = openServicePool({ ...options, connections: 1 });
  const markers = new Map<string, string>();
  const send = (statement: Sql) =>
    sendOne(connections, (client) => {
      const config: PreparedStatement = prepare(statement);
      return answeredWithin(client, ANSWER_TIMEOUT_MS, () => sendPrepared(client, config));
    });

  /** Returns the marker of a timeline; the first process that sees a timeline stores its marker. */
  async function markerOf(timeline: string): Promise<string> {
    await send(sql`insert into wal_timelines (timeline) values (${timeline}) on conflict do nothing`);
    const [row] = await send(sql`select marker from wal_timelines where timeline = ${timeline}`);
    return String(row?.marker);
  }

  async function ask(): Promise<WalPosition> {
    const [row] = await send(POSITION);
    if (!row) throw new Error('the primary did not report its WAL position');
    const marker = markers.get(String(row.timeline));
    if (marker !== undefined) return { lsn: String(row.lsn), marker };
    markers.set(String(row.timeline), await markerOf(String(row.timeline)));
    // The marker must be older than the returned position, so that a replica at this position has it.
    return ask();
  }

  return { current: shareCalls(ask), close };
}

/**
 * Wraps `ask` so that every caller gets an answer whose query began after the call, with one query running at a time.
 */
export function shareCalls<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    next = undefined;
    const begun = ask().finally(() => {
      if (running === begun) running = undefined;
    });
    running = begun;
    return begun;
  };
  return () => {
    if (!running && !next) return start();
    next ??= (running as Promise<T>).then(start, start);
    return next;
  };
}
