import type { BlobStore } from '../../platform/providers/storage/blobs.ts';
import type { BackupStore } from './backup-store.ts';
import { DamagedObject } from './encryption.ts';
import { hashed } from './file-list.ts';

/** Stores a file, unless the target has it. Returns whether it is there: the file store may not have it, or not as it was. */
export async function copyFile(blobs: Pick<BlobStore, 'stream'>, store: BackupStore, sha256: string): Promise<boolean> {
  const name = store.fileName(sha256);
  if (await store.has(name)) return true;
  try {
    await store.write(name, hashed(await blobs.stream(sha256), sha256));
    return true;
  } catch (error) {
    if (error instanceof DamagedObject || (error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** A file of a backup. Its end is an error where it was altered. */
export function readFile(store: BackupStore, sha256: string): AsyncGenerator<Uint8Array> {
  return hashed(store.read(store.fileName(sha256)), sha256);
}
