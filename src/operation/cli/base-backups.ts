import { takeBaseBackup } from '@ibid/postgres-server/base-backup.ts';
import { waitingWalFolder } from '@ibid/postgres-server/running.ts';
import type { Connection } from '@ibid/postgres-server/server.ts';
import type { OwnerDb } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { jobsAreOn } from '../../platform/jobs/pause-jobs.ts';
import type { BlobStore } from '../../platform/providers/storage/blobs.ts';
import type { BackupStore } from '../backup/backup-store.ts';
import { makeBase } from '../backup/base/base-backup.ts';
import type { Recovery } from '../backup/make-backup.ts';
import { shipWal } from '../backup/wal/ship-wal.ts';
import { beginWalArchive } from '../backup/wal/wal-archive.ts';
import type { Config } from '../config.ts';

interface Parts {
  db: OwnerDb;
  own: Connection | undefined;
  blobs: BlobStore;
  store: BackupStore;
}

/** Returns how a backup makes its base backup, or undefined if BACKUP_WAL is not set. */
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
      // A restored database stores no WAL until "ibid resume".
      const [state] = await query<{ is_on: boolean }>(sql`select ${jobsAreOn} as is_on`);
      if (!state?.is_on) return undefined;
      return makeBase(query, store, backupFolder, {
        take: (taker) => takeBaseBackup(own, taker),
        ship: () => shipWal({ query, blobs, store, folder }),
      });
    },
  };
}
