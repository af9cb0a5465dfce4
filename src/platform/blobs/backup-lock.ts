import type { Query } from '../db/db.ts';
import { raw, sql } from '../db/sql.ts';

/** Advisory lock held during a backup of this database. */
const LOCK_ID = 4711002;

/**
 * True while a backup is running. Blobs referenced by its snapshot must survive, even if the last reference is deleted
 * during the backup. The backup takes the lock before its snapshot, so a deletion that does not see the lock sees all
 * references in the snapshot.
 */
export const backupIsBeingMade = raw(`exists (
  select from pg_locks l
  where l.locktype = 'advisory' and l.classid = 0 and l.objid = ${LOCK_ID} and l.granted
    and l.database = (select oid from pg_database where datname = current_database()))`);

/** Thrown if another backup of this database is running. */
export class BackupInProgress extends Error {}

/** Takes the lock until the session ends. Throws BackupInProgress. */
export async function lockForBackup(query: Query): Promise<void> {
  const [lock] = await query<{ taken: boolean }>(sql`select pg_try_advisory_lock(${LOCK_ID}::bigint) as taken`);
  if (!lock?.taken) throw new BackupInProgress('another backup of this database is running: wait until it ends.');
}
