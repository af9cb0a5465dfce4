import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';

/** What the database remembers of the WAL that was stored; there is a row while WAL is archived. */
export interface WalArchive {
  /** Of the cluster, by which its WAL is stored. */
  system_identifier: string;
  last_segment: string | null;
  /** Files that were kept before this are in the place of backups. */
  files_until: string;
  /** When there was a gap after `last_segment`: only a base backup that is newer leads on. */
  gap_at: string | null;
  /** When the latest base backup of a complete backup was begun. */
  based_at: string | null;
}

/** Begins to remember. Files of before are in the next base backup. */
export async function beginWalArchive(query: Query): Promise<void> {
  await query(sql`insert into wal_archive default values on conflict do nothing`);
}

/** WAL is not archived any more. */
export async function endWalArchive(query: Query): Promise<void> {
  await query(sql`delete from wal_archive`);
}

export async function readWalArchive(query: Query): Promise<WalArchive> {
  await beginWalArchive(query);
  const [row] = await query<WalArchive>(sql`
    select (select system_identifier::text from pg_control_system()) as system_identifier,
      last_segment, files_until, gap_at, based_at
    from wal_archive`);
  if (!row) throw new Error('the state of the archive of WAL has disappeared');
  return row;
}

/** Whether only another base backup leads to moments from now on. */
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

/** `written_at`: when PostgreSQL last wrote to the segment. */
export async function recordShipped(
  query: Query,
  shipped: { last_segment: string | null; written_at: string | null; files_until: string },
): Promise<void> {
  await query(sql`
    update wal_archive set last_segment = coalesce(${shipped.last_segment}::text, last_segment),
      stored_until = coalesce(${shipped.written_at}::timestamptz, stored_until), files_until = ${shipped.files_until}`);
}

/** Who removes files from the place of backups, or relies on those that are there. */
const LOCK_ID = 4711004;

/** Does `work` while no other session does such work. */
export async function withStoredFiles<T>(query: Query, work: () => Promise<T>): Promise<T> {
  await query(sql`select pg_advisory_lock(${LOCK_ID}::bigint)`);
  try {
    return await work();
  } finally {
    await query(sql`select pg_advisory_unlock(${LOCK_ID}::bigint)`);
  }
}
