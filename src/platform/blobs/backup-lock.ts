import type { Query } from '../db/db.ts';
import { raw, sql } from '../db/sql.ts';

/** The advisory lock of who makes a backup of this database. */
const LOCK_ID = 4711002;

/**
 * Whether a backup is being made: what its snapshot refers to is not deleted, also where nothing refers to it any more. The
 * lock is taken before the snapshot, so that a deletion that does not see the lock sees the references of the snapshot.
 */
export const backupIsBeingMade = raw(`exists (
  select from pg_locks l
  where l.locktype = 'advisory' and l.classid = 0 and l.objid = ${LOCK_ID} and l.granted
    and l.database = (select oid from pg_database where datname = current_database()))`);

/** Another backup of this database is being made. */
export class BackupInProgress extends Error {}

/** Takes the lock until the session ends. Errors: BackupInProgress. */
export async function lockForBackup(query: Query): Promise<void> {
  const [lock] = await query<{ taken: boolean }>(sql`select pg_try_advisory_lock(${LOCK_ID}::bigint) as taken`);
  if (!lock?.taken) throw new BackupInProgress('another backup of this database is being made: wait for its end.');
}
