import { sendOne } from '../pool.ts';
import { type PreparedStatement, sendPrepared } from '../prepared-query.ts';
import type { WalPosition } from '../request-context.ts';
import { ANSWER_TIMEOUT_MS } from '../servers.ts';
import { openServicePool, type ServiceDbOptions } from '../service-session.ts';
import { answeredWithin } from '../silence.ts';
import { type Sql, sql } from '../sql.ts';

/** Asks the primary how far it has written. */
export interface WalPositions {
  /**
   * A position behind everything that was committed before the call. Callers share questions: what comes while one is on its way
   * waits for the next, because the answer may already be made. Errors: those of the connection.
   */
  current(): Promise<WalPosition>;
  close(): Promise<void>;
}

/**
 * A commit is seen by others only after it was flushed, unless it is asynchronous. The name of a segment of the log begins with
 * the timeline that the primary writes on.
 */
const POSITION = sql`
  select case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
      else pg_current_wal_flush_lsn() end::text as lsn,
    left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) as timeline`;

/** Opens a connection of its own, so that the question never waits for other statements. */
export function openWalPositions(options: ServiceDbOptions): WalPositions {
  const { connections, prepare, close } = openServicePool({ ...options, connections: 1 });
  const markers = new Map<string, string>();
  const send = (statement: Sql) =>
    sendOne(connections, (client) => {
      const config: PreparedStatement = prepare(statement);
      return answeredWithin(client, ANSWER_TIMEOUT_MS, () => sendPrepared(client, config));
    });

  /** The marker of a timeline that is written on; the first process that sees it writes it down. */
  async function markerOf(timeline: string): Promise<string> {
    await send(sql`insert into wal_timelines (timeline) values (${timeline}) on conflict do nothing`);
    const [row] = await send(sql`select marker from wal_timelines where timeline = ${timeline}`);
    return String(row?.marker);
  }

  async function ask(): Promise<WalPosition> {
    const [row] = await send(POSITION);
    if (!row) throw new Error('the primary did not say how far it has written');
    const marker = markers.get(String(row.timeline));
    if (marker !== undefined) return { lsn: String(row.lsn), marker };
    markers.set(String(row.timeline), await markerOf(String(row.timeline)));
    // The marker must be below the position that a replica is asked for.
    return ask();
  }

  return { current: shareCalls(ask), close };
}

/** Calls `ask` so that every caller gets an answer that was begun after its call, with one running at a time. */
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
