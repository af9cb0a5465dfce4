import type { BackupStore } from '../backup-store.ts';
import type { BaseBackup } from '../manifest.ts';
import { followWal, segmentOf, type WalChain } from './segments.ts';
import { openWalStore } from './wal-store.ts';

/** Returns the stored WAL that follows a base backup. */
export async function chainOf(store: BackupStore, base: BaseBackup): Promise<WalChain> {
  const wal = openWalStore(store, base.system_identifier);
  const { names } = await wal.list();
  const histories = await wal.histories(names);
  return followWal({ timeline: base.timeline, number: segmentOf(base.start_lsn) }, names, histories);
}
