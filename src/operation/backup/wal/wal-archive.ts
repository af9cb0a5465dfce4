import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';

/** State of WAL archiving in the database. The row exists while archiving is on. */
export interface WalArchive {
  /** Identifies the cluster whose WAL is stored. */
  system_identifier: string;
  last_segment: string | null;
  /** Files added before this time are in the backup store. */
  files_until: string;
  /** Time of a gap after `last_segment`: recovery past it needs a newer base backup. */
  gap_at: string | null;
  /** Start time of the base backup in the latest complete backup. */
  based_at: string | null;
}

/** Turns archiving on. Files from before are in the next base backup. */
export async function beginWalArchive(query: Query): Promise<void> {
  await query(sql`insert into wal_archive default values on conflict do nothing`);
}

export async function endWalArchive(query: Query): Promise<void> {
  await query(sql`delete from wal_archive`);
}

export async function readWalArchive(query: Query): Promise<WalArchive> {
  await beginWalArchive(query);
  const [row] = await query<WalArchive>(sql`
    select (select system_identifier::text from pg_control_system()) as system_identifier,
      last_segment, files_until, gap_at, based_at
    from wal_archive`);
  if (!row) throw new Error('the state of the WAL archive is missing');
  return row;
}

/** Whether later moments can be recovered only after another base backup. */
export async function needsBase(query: Query): Promise<boolean> {
  const [row] = await query<{ needed: boolean }>(sql`
    select based_at is null or gap_at > based_at as needed from wal_archive`);
  return row?.needed === true;
}

export async function recordGap(query: Query): Promise<void> {
  await query(sql`update wal_archive set gap_at = clock_timestamp(), last_segment = null`);
}

export async function recordBase(query: Query, started_at: string): Promise<void> {
  await query(sql`update wal_archive set based_at = ${started_at}`);
}

/** `written_at` is the time of PostgreSQL's last write to the segment. */
export async function recordShipped(
  query: Query,
  shipped: { last_segment: string | null; written_at: string | null; files_until: string },
): Promise<void> {
  await query(sql`
    update wal_archive set last_segment = coalesce(${shipped.last_segment}::text, last_segment),
      stored_until = coalesce(${shipped.written_at}::timestamptz, stored_until), files_until = ${shipped.files_until}`);
}

/** Advisory lock of sessions that remove files from the backup store, or rely on files there. */
const LOCK_ID = 4711004;

/** Runs `work` while holding that lock. */
export async function withStoredFiles<T>(query: Query, work: () => Promise<T>): Promise<T> {
  await query(sql`select pg_advisory_lock(${LOCK_ID}::bigint)`);
  try {
    return await work();
  } finally {
    await query(sql`select pg_advisory_unlock(${LOCK_ID}::bigint)`);
  }
}
