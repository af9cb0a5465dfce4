import type { BlobStore } from '../../platform/providers/storage/blobs.ts';
import type { BackupStore } from './backup-store.ts';
import { DamagedObject } from './encryption.ts';
import { hashed } from './file-list.ts';

/**
 * Stores a file unless the backup already has it. Returns false if the file is missing from the file store or damaged
 * there.
 */
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

/** Reads a file of a backup. Throws DamagedObject at the end if its content was altered. */
export function readFile(store: BackupStore, sha256: string): AsyncGenerator<Uint8Array> {
  return hashed(store.read(store.fileName(sha256)), sha256);
}
