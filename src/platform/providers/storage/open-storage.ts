import { join } from 'node:path';
import type { BlobStore } from './blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';
import type { S3Place } from './s3-place.ts';

/** Opens the file store: the configured bucket, or a folder in DATA_DIR. Throws errors of the file system. */
export async function openStore(
  place: S3Place | undefined,
  dataDir: string,
): Promise<{ blobs: BlobStore; close(): void }> {
  const folder = join(dataDir, 'blobs');
  if (!place) return { blobs: await openFolderBlobs(folder), close: () => undefined };
  // Imported on demand, because its library uses 20 MB of memory.
  const { openS3Blobs } = await import('./s3-blobs.ts');
  const blobs = await openS3Blobs(place, join(folder, 'incoming'));
  return { blobs, close: blobs.close };
}
