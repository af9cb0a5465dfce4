import type { BackupRetention } from '../../platform/core/backup-plan.ts';
import type { BackupStore } from './backup-store.ts';
import { DamagedObject } from './encryption.ts';
import type { Manifest } from './manifest.ts';
import { backupsToKeep } from './retention.ts';
import { readFileList } from './verify-backup.ts';
import { firstOfWindow, pruneWal } from './wal/prune-wal.ts';
import { listWalOwners, openWalStore } from './wal/wal-store.ts';

export interface Pruned {
  backups: string[];
  files: number;
  /** Number of removed WAL segments that the window does not need. */
  segments: number;
  /**
   * Backups whose manifest or file list is unreadable, and unreadable file lists of WAL. They stay, and so does every
   * file.
   */
  unreadable: string[];
}

/**
 * Removes expired backups, WAL older than the window, and then files that nothing needs. The caller must hold the lock
 * of backups and the lock of stored files, because a running backup and WAL shipping rely on the files that exist. A
 * prune that is killed leaves whole backups, and the next prune continues.
 */
export async function pruneBackups(
  store: BackupStore,
  retention: BackupRetention | undefined,
  windowSeconds?: number,
): Promise<Pruned> {
  const unreadable: string[] = [];
  const manifests: Manifest[] = [];
  for (const id of await store.list()) {
    const manifest = await readable(() => store.manifest(id));
    if (manifest) manifests.push(manifest);
    else unreadable.push(id);
  }
  const kept = retention ? backupsToKeep(manifests, retention) : new Set(manifests.map(({ backup_id }) => backup_id));
  const first = windowSeconds === undefined ? undefined : firstOfWindow(manifests, windowSeconds);
  if (first) kept.add(first.backup_id);
  const removed = manifests.map(({ backup_id }) => backup_id).filter((id) => !kept.has(id));
  for (const id of removed) await store.remove(id);

  const left = manifests.filter(({ backup_id }) => kept.has(backup_id));
  // An unreadable backup may contain a base backup that needs any segment.
  const segments =
    windowSeconds === undefined || unreadable.length > 0 ? 0 : await pruneWal(store, left, windowSeconds);
  const needed = new Set<string>();
  for (const owner of await listWalOwners(store)) {
    const wal = openWalStore(store, owner);
    for (const time of (await wal.list()).lists) {
      const sha256s = await readable(() => wal.readList(time));
      for (const sha256 of sha256s ?? []) needed.add(store.fileName(sha256));
      if (!sha256s) unreadable.push(wal.listName(time));
    }
  }
  for (const manifest of left) {
    const isRead = await readable(async () => {
      for await (const sha256s of readFileList(store, manifest)) {
        for (const sha256 of sha256s) needed.add(store.fileName(sha256));
      }
      return true;
    });
    if (!isRead) unreadable.push(manifest.backup_id);
  }
  // Without their lists, the files that these backups need are unknown.
  const files = unreadable.length > 0 ? 0 : await store.removeFilesBut(needed);
  return { backups: removed, files, segments, unreadable };
}

/** Returns undefined if an object is damaged or missing. Throws other errors, such as an unavailable bucket. */
async function readable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const isDamaged = error instanceof DamagedObject || error instanceof SyntaxError || isOfZlib(error);
    if (isDamaged || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const isOfZlib = (error: unknown) => /^Z_/.test((error as NodeJS.ErrnoException).code ?? '');
