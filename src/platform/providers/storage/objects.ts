import { mkdir, open, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { openIncoming } from './blobs.ts';
import { exists, falseIfGone, moveDurably } from './durable-files.ts';
import { readS3Url } from './s3-place.ts';

/** Objects by names with slashes, in a folder or a bucket. An object exists completely or not at all. */
export interface Objects {
  /** Stores a stream durably and replaces an existing object. Stores nothing if the stream fails. */
  put(name: string, content: Readable): Promise<void>;
  /** Opens a stream. Throws ENOENT if there is no such object. */
  stream(name: string): Promise<Readable>;
  has(name: string): Promise<boolean>;
  /** Lists the names below a folder in no particular order. `folder` ends with a slash. */
  list(folder: string): AsyncIterable<string>;
  /** Ignores a missing object. */
  remove(name: string): Promise<void>;
  close(): void;
}

/**
 * Opens `file:///folder`, or `s3://…` in the form of STORAGE_URL. `incoming`: a local folder that buffers objects on
 * their way to a bucket. Throws an Error that explains an invalid address.
 */
export async function openObjects(option: string, url: string, incoming: string): Promise<Objects> {
  if (url.startsWith('file:')) return openFolder(fileURLToPath(url));
  const place = readS3Url(url, option);
  const { openBucket } = await import('./s3-bucket.ts');
  const bucket = openBucket(place);
  const receive = await openIncoming(incoming);
  return {
    async put(name, content) {
      const file = await receive(content);
      try {
        await bucket.putFile(place.prefix + name, file);
      } finally {
        await file.discard();
      }
    },
    stream: (name) => bucket.stream(place.prefix + name),
    has: async (name) => (await bucket.sizeOf(place.prefix + name)) !== undefined,
    async *list(folder) {
      for await (const { key } of bucket.list(place.prefix + folder)) yield key.slice(place.prefix.length);
    },
    remove: async (name) => void (await bucket.remove(place.prefix + name)),
    close: bucket.close,
  };
}

async function openFolder(root: string): Promise<Objects> {
  await mkdir(dirname(root), { recursive: true });
  const receive = await openIncoming(join(root, 'incoming'));
  return {
    async put(name, content) {
      const { path } = await receive(content);
      await moveDurably(path, join(root, name));
    },
    async stream(name) {
      const handle = await open(join(root, name), 'r');
      return handle.createReadStream();
    },
    has: (name) => exists(join(root, name)),
    async *list(folder) {
      const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(falseIfGone);
      for (const entry of entries || []) {
        if (entry.isFile()) yield join(entry.parentPath, entry.name).slice(join(root, '/').length);
      }
    },
    async remove(name) {
      await rm(join(root, name), { force: true });
      await removeEmpty(root, dirname(name));
    },
    close: () => undefined,
  };
}

/** Removes a folder below `root` and its parents until a parent is not empty, because a bucket has no empty folders. */
async function removeEmpty(root: string, folder: string): Promise<void> {
  for (let empty = folder; empty !== '.'; empty = dirname(empty)) {
    try {
      await rmdir(join(root, empty));
    } catch (error) {
      if (/^(ENOTEMPTY|EEXIST|ENOENT)$/.test((error as NodeJS.ErrnoException).code ?? '')) return;
      throw error;
    }
  }
}
