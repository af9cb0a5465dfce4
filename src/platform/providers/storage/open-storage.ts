import { join } from 'node:path';
import type { BlobStore } from './blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';
import type { S3Place } from './s3-place.ts';

/** Opens the file store: the configured bucket, else a folder of DATA_DIR. Errors: those of the file system. */
export async function openStore(
  place: S3Place | undefined,
  dataDir: string,
): Promise<{ blobs: BlobStore; close(): void }> {
  const folder = join(dataDir, 'blobs');
  if (!place) return { blobs: await openFolderBlobs(folder), close: () => undefined };
  // Imported on demand, as its library takes 20 MB of memory.
  const { openS3Blobs } = await import('./s3-blobs.ts');
  const blobs = await openS3Blobs(place, join(folder, 'incoming'));
  return { blobs, close: blobs.close };
}
