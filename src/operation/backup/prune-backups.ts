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
  /** How many files were removed that no backup needs. */
  files: number;
  /** How many segments of WAL were removed that no moment of the window needs. */
  segments: number;
  /** Backups whose manifest or list of files cannot be read, and such lists of WAL. They stay, and with them every file. */
  unreadable: string[];
}

/**
 * Removes the backups that need not be kept, the WAL that is older than the window, and then the files that nothing needs.
 * Only while the lock of backups is held, and that of stored files: a backup that is being made and what stores WAL rely on
 * the files that are there. A prune that is killed leaves backups that are whole, and what the next one removes.
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
  // A backup that cannot be read may have a base backup that needs any of it.
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
  // Without their lists it is not known which files these need.
  const files = unreadable.length > 0 ? 0 : await store.removeFilesBut(needed);
  return { backups: removed, files, segments, unreadable };
}

/** undefined where an object was damaged or is missing; the file system or the bucket being away is an error. */
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
