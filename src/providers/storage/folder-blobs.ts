import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Blobs, mapAtOnce, openIncoming, sha256Of } from './blobs.ts';

/** Blobs in a folder: `<folder>/ab/abcdef…`, each fsynced with its folder before it counts as kept; parts in `parts`. */
export async function openFolderBlobs(folder: string): Promise<Blobs> {
  const receive = await openIncoming(join(folder, 'incoming'));
  const parts = join(folder, 'parts');
  await mkdir(parts, { recursive: true });
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256);

  async function write(content: Uint8Array, path: string): Promise<void> {
    const temporary = join(folder, 'incoming', randomUUID());
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
        keepAsPart: (name) => move(path, join(parts, name)),
      };
    },
    async keepAll(contents) {
      const sha256s = await mapAtOnce(contents, async (content) => {
        const sha256 = await sha256Of(content);
        if (!(await touch(pathOf(sha256)))) await write(content, pathOf(sha256));
        return sha256;
      });
      // Their folders once for all of them.
      await mapAtOnce([...new Set(sha256s.map((sha256) => dirname(pathOf(sha256))))], sync);
      return sha256s;
    },
    read: (sha256) => readFile(pathOf(sha256)),
    async stream(sha256, range) {
      const handle = await open(pathOf(sha256), 'r');
      return handle.createReadStream(range);
    },
    sweep: (age_ms, inUse) => sweep(folder, age_ms, inUse),
    parts: {
      async stream(name) {
        const handle = await open(join(parts, name), 'r');
        return handle.createReadStream();
      },
      remove: (name) => rm(join(parts, name), { force: true }),
      async *olderThan(ms) {
        for (const name of await readdir(parts)) {
          // One that is gone already is not old.
          const { mtimeMs } = await stat(join(parts, name)).catch(() => ({ mtimeMs: Date.now() }));
          if (mtimeMs < Date.now() - ms) yield name;
        }
      },
    },
  };
}

async function keep(temporary: string, path: string): Promise<void> {
  if (!(await touch(path))) return move(temporary, path);
  await rm(temporary, { force: true });
  // Whoever brought the same bytes a moment ago may not have come to this yet.
  await sync(dirname(path));
}

async function move(temporary: string, path: string): Promise<void> {
  await sync(temporary);
  await makeFolder(dirname(path));
  await rename(temporary, path);
  await sync(dirname(path));
}

async function makeFolder(folder: string): Promise<void> {
  if (await exists(folder)) return;
  await mkdir(folder, { recursive: true });
  await sync(dirname(folder));
}

/** Says that somebody counts on a blob from now on; false where there is none. */
async function touch(path: string): Promise<boolean> {
  const now = new Date();
  return utimes(path, now, now).then(() => true, falseIfGone);
}

/**
 * A blob is first moved to where nobody finds it, and looked at there: whoever has kept it before that has touched it, so
 * that it is moved back, and whoever comes after does not find it and stores it anew.
 */
async function sweep(
  folder: string,
  age_ms: number,
  inUse: (sha256s: string[]) => Promise<ReadonlySet<string>>,
): Promise<number> {
  const condemned = join(folder, 'condemned');
  await mkdir(condemned, { recursive: true });
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256);
  // A process that was killed in between has left them there.
  for (const name of await readdir(condemned)) await rename(join(condemned, name), pathOf(name)).catch(falseIfGone);
  const isOld = async (path: string) => {
    const found = await stat(path).catch(falseIfGone);
    return found !== false && found.mtimeMs < Date.now() - age_ms;
  };
  let swept = 0;
  for (const prefix of (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    const old: string[] = [];
    for (const name of await readdir(join(folder, prefix))) if (await isOld(pathOf(name))) old.push(name);
    const used = old.length === 0 ? new Set() : await inUse(old);
    for (const name of old.filter((one) => !used.has(one))) {
      const moved = join(condemned, name);
      if ((await rename(pathOf(name), moved).catch(falseIfGone)) === false) continue;
      if (await isOld(moved)) {
        await rm(moved, { force: true });
        swept += 1;
      } else {
        await rename(moved, pathOf(name)).catch(falseIfGone);
      }
    }
  }
  return swept;
}

function falseIfGone(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOENT') return false;
  throw error;
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, falseIfGone);
}
