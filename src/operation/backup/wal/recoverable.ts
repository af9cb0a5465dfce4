import type { BackupStore } from '../backup-store.ts';
import { DamagedObject } from '../encryption.ts';
import type { BaseBackup, Manifest } from '../manifest.ts';
import { RestoreRefused } from '../restore-rows.ts';
import { chainOf } from './chain-of.ts';
import { readSegment, segmentOf, type WalChain } from './segments.ts';
import { openWalStore } from './wal-store.ts';

export interface RecoverableBackup {
  manifest: Manifest;
  base: BaseBackup;
  chain: WalChain;
  /** All commits up to this moment are stored. */
  stored_until: string;
}

/**
 * Finds the backup from which to recover a moment: the latest with a base backup before the moment, or the backup with
 * the given id. `moment` is undefined for the end of the WAL. Throws RestoreRefused with the recoverable moments.
 */
export async function findRecoverable(
  store: BackupStore,
  moment: string | undefined,
  backup_id: string | undefined,
): Promise<RecoverableBackup> {
  const found: { manifest: Manifest; base: BaseBackup }[] = [];
  for (const id of backup_id === undefined ? await store.list() : [backup_id]) {
    const manifest = await store.manifest(id).catch((error: Error) => {
      if (backup_id === undefined && error instanceof DamagedObject) return undefined;
      throw error;
    });
    if (manifest?.base) found.push({ manifest, base: manifest.base });
  }
  const [earliest] = found;
  if (!earliest) {
    throw new RestoreRefused(
      'no backup has a base backup to recover from: with BACKUP_WAL, later backups include one. "ibid restore" without --at restores a backup.',
    );
  }
  const best = found.findLast(({ base }) => moment === undefined || base.stopped_at <= moment);
  if (!best) throw new RestoreRefused(`the earliest recoverable moment is ${earliest.base.stopped_at}.`);
  const chain = await chainOf(store, best.base);
  const wal = openWalStore(store, best.base.system_identifier);
  const last = chain.segments.at(-1);
  const lowest = segmentOf(best.base.stop_lsn);
  const [missing] = chain.missing;
  const why = missing ? `, because ${wal.nameOf(missing)} is missing` : '';
  if (last === undefined || (readSegment(last)?.number ?? 0) < lowest) {
    throw new RestoreRefused(`the base backup of ${best.manifest.backup_id} cannot be recovered${why}.`);
  }
  const { written_at: stored_until } = await wal.read(last);
  if (moment !== undefined && moment > stored_until) {
    throw new RestoreRefused(
      `the stored WAL ends at ${stored_until}${why}: "--at latest" restores everything committed until then.`,
    );
  }
  return { ...best, chain, stored_until };
}
