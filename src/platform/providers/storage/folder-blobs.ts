import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BlobStore, isSha256, mapAtOnce, openIncoming, removeAbandoned, removeBefore } from './blobs.ts';
import { exists, falseIfGone, makeFolder, moveDurably, sync } from './durable-files.ts';

/**
 * Opens blobs in a folder: `<folder>/ab/abcdef…`. A blob counts as kept after an fsync of the file and its folder.
 * Parts are in `parts`.
 */
export async function openFolderBlobs(folder: string): Promise<BlobStore> {
  const incoming = join(folder, 'incoming');
  const receive = await openIncoming(incoming);
  const parts = join(folder, 'parts');
  await mkdir(parts, { recursive: true });
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256);

  async function write(content: Uint8Array, path: string): Promise<void> {
    const temporary = join(incoming, randomUUID());
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await makeFolder(dirname(path));
    await rename(temporary, path);
  }

  return {
    async receive(stream) {
      const { path, sha256, byte_size, discard } = await receive(stream);
      return {
        sha256,
        byte_size,
        discard,
        keep: () => keep(path, pathOf(sha256)),
        keepAsPart: (name) => moveDurably(path, join(parts, name)),
      };
    },
    async keepAll(contents) {
      await mapAtOnce(contents, async ({ sha256, content }) => {
        if (!(await exists(pathOf(sha256)))) await write(content, pathOf(sha256));
      });
      // Sync each folder once for all of its files.
      await mapAtOnce([...new Set(contents.map(({ sha256 }) => dirname(pathOf(sha256))))], sync);
    },
    read: (sha256) => readFile(pathOf(sha256)),
    async stream(sha256, range) {
      const handle = await open(pathOf(sha256), 'r');
      return handle.createReadStream(range);
    },
    async *list() {
      for (const prefix of (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
        for (const sha256 of (await readdir(join(folder, prefix))).filter(isSha256)) {
          const found = await stat(pathOf(sha256)).catch(falseIfGone);
          if (found) yield { sha256, byte_size: found.size };
        }
      }
    },
    removeAll: (sha256s, deadline) => removeBefore(deadline, sha256s, (sha256) => rm(pathOf(sha256), { force: true })),
    removeUnfinished: (ageMs) => removeAbandoned(incoming, ageMs),
    parts: {
      async stream(name) {
        const handle = await open(join(parts, name), 'r');
        return handle.createReadStream();
      },
      remove: (name) => rm(join(parts, name), { force: true }),
      async *olderThan(ms) {
        for (const name of await readdir(parts)) {
          // A part that has been removed in the meantime does not count as old.
          const { mtimeMs } = await stat(join(parts, name)).catch(() => ({ mtimeMs: Date.now() }));
          if (mtimeMs < Date.now() - ms) yield name;
        }
      },
    },
  };
}

async function keep(temporary: string, path: string): Promise<void> {
  if (!(await exists(path))) return moveDurably(temporary, path);
  await rm(temporary, { force: true });
  // Another caller may have stored the same bytes a moment ago without having synced the folder yet.
  await sync(dirname(path));
}
