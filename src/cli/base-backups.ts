import type { BackupStore } from '../backup/backup-store.ts';
import { makeBase } from '../backup/base/base-backup.ts';
import type { Recovery } from '../backup/make-backup.ts';
import { shipWal } from '../backup/wal/ship-wal.ts';
import { beginWalArchive } from '../backup/wal/wal-archive.ts';
import type { Config } from '../config.ts';
import type { OwnerDb } from '../db/db.ts';
import { takeBaseBackup } from '../db/postgres/base-backup.ts';
import { waitingWalFolder } from '../db/postgres/running.ts';
import type { Connection } from '../db/postgres/server.ts';
import { sql } from '../db/sql.ts';
import { jobsAreOn } from '../jobs/pause-jobs.ts';
import type { BlobStore } from '../providers/storage/blobs.ts';

interface Parts {
  db: OwnerDb;
  /** The service's own PostgreSQL. */
  own: Connection | undefined;
  blobs: BlobStore;
  store: BackupStore;
}

/** How a backup gets its base backup where BACKUP_WAL is set. */
export async function recoveryOf(
  { BACKUP_WAL: windowSeconds, DATA_DIR }: Config,
  { db, own, blobs, store }: Parts,
): Promise<Recovery | undefined> {
  const folder = waitingWalFolder(DATA_DIR);
  if (windowSeconds === undefined || !own || !folder) return undefined;
  await beginWalArchive(db.query);
  return {
    windowSeconds,
    async makeBase(backupFolder, query) {
      // What was restored stores no WAL before "ibid resume".
      const [state] = await query<{ is_on: boolean }>(sql`select ${jobsAreOn} as is_on`);
      if (!state?.is_on) return undefined;
      return makeBase(query, store, backupFolder, {
        take: (taker) => takeBaseBackup(own, taker),
        ship: () => shipWal({ query, blobs, store, folder }),
      });
    },
  };
}
