import type { BackupStore } from '../backup-store.ts';
import { baseFolder } from '../base/base-backup.ts';
import type { Manifest } from '../manifest.ts';
import { segmentOf } from './segments.ts';
import { listWalOwners, openWalStore } from './wal-store.ts';

const byTime = (a: Manifest, b: Manifest) => (a.made_at < b.made_at ? -1 : 1);

/** Returns the backup from which the whole window can be recovered, or else as much of it as possible. */
export function firstOfWindow(backups: readonly Manifest[], windowSeconds: number): Manifest | undefined {
  const oldestFirst = backups.filter(({ base }) => base).sort(byTime);
  const begin = new Date(Date.now() - 1_000 * windowSeconds).toISOString();
  return oldestFirst.findLast(({ made_at }) => made_at <= begin) ?? oldestFirst[0];
}

/**
 * Removes WAL, and then base backups, that the window does not need: its first moment needs the latest base backup
 * before it. Other parts of the backups stay. `kept` has the remaining backups. Returns the number of removed segments.
 */
export async function pruneWal(store: BackupStore, kept: readonly Manifest[], windowSeconds: number): Promise<number> {
  const oldestFirst = kept.toSorted(byTime);
  const first = firstOfWindow(kept, windowSeconds);
  // Without a base backup, the segments that the next one will need are unknown.
  if (!first) return 0;
  for (const { base, ...manifest } of oldestFirst) {
    if (manifest.made_at >= first.made_at) break;
    if (base) await store.complete(manifest);
    for await (const name of store.names(baseFolder(manifest.backup_id))) await store.removeObject(name);
  }
  let removed = 0;
  for (const owner of await listWalOwners(store)) {
    const oldest = oldestFirst.find(
      ({ base, made_at }) => base?.system_identifier === owner && made_at >= first.made_at,
    );
    const wal = openWalStore(store, owner);
    if (oldest?.base) removed += await wal.removeBefore(segmentOf(oldest.base.start_lsn), oldest.made_at);
    else await wal.removeAll();
  }
  return removed;
}
