import type { BlobStore } from '../../platform/providers/storage/blobs.ts';
import { openStore } from '../../platform/providers/storage/open-storage.ts';
import { readS3Url } from '../../platform/providers/storage/s3-place.ts';
import type { Config } from '../config.ts';
import { makeDataDir } from '../service/data-dir.ts';

export async function withFiles<T>(config: Config, work: (blobs: BlobStore) => Promise<T>): Promise<T> {
  const { STORAGE_URL, DATA_DIR } = config;
  await makeDataDir(DATA_DIR);
  const { blobs, close } = await openStore(STORAGE_URL === undefined ? undefined : readS3Url(STORAGE_URL), DATA_DIR);
  try {
    return await work(blobs);
  } finally {
    close();
  }
}
