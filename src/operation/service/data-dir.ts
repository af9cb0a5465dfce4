import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartError, toStartError } from '@ibid/postgres-server/start-error.ts';
import type { BlobStore } from '../../platform/providers/storage/blobs.ts';
import { openStore } from '../../platform/providers/storage/open-storage.ts';
import { readS3Url } from '../../platform/providers/storage/s3-place.ts';
import type { Config } from '../config.ts';
import { orStartError } from './from-config.ts';
import type { OnStop } from './hooks.ts';

/** Creates the folder, readable only by this user. Throws StartError. */
export async function makeDataDir(folder: string): Promise<void> {
  try {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw dataDirError(cause, folder);
  }
}

/**
 * Opens the file store: a bucket, with a local folder for files being received, or the folder alone. Throws StartError.
 */
export async function openFiles({ STORAGE_URL, DATA_DIR }: Config, onStop: OnStop): Promise<BlobStore> {
  const place = orStartError(() => (STORAGE_URL === undefined ? undefined : readS3Url(STORAGE_URL)));
  try {
    const { blobs, close } = await openStore(place, DATA_DIR);
    onStop(async () => close());
    return blobs;
  } catch (cause) {
    throw dataDirError(cause, DATA_DIR);
  }
}

function dataDirError(cause: unknown, folder: string): StartError {
  const known = toStartError(cause, folder);
  if (known instanceof StartError) return known;
  return new StartError(
    `DATA_DIR ${folder} cannot be used (${(cause as Error).message}): set DATA_DIR to a writable folder.`,
    { cause },
  );
}
