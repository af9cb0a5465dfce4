import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Bytes by their content: what is stored under a SHA-256 (64 hex digits) never changes. */
export interface Blobs {
  /** Takes a stream to the store's side, not yet durable, and says what it was. */
  receive(stream: Readable): Promise<ReceivedBlob>;
  /** The whole content. Errors: ENOENT where there is no such blob. */
  read(sha256: string): Promise<Buffer>;
  /**
   * The content, or the bytes from `start` to `end` (both included), as a stream that is open already. Whoever does not
   * read it to its end destroys it. Errors: ENOENT where there is no such blob.
   */
  stream(sha256: string, range?: { start: number; end: number }): Promise<Readable>;
  /**
   * Takes away what nothing refers to and nobody has kept for `age_ms`, and answers how many blobs that were. `inUse` says
   * which of some hashes something refers to. Whoever keeps a blob has `age_ms` to write down what refers to it.
   */
  sweep(age_ms: number, inUse: (sha256s: string[]) => Promise<ReadonlySet<string>>): Promise<number>;
}

export interface ReceivedBlob {
  sha256: string;
  byte_size: number;
  /** Makes the blob durable under its hash; when it answers, a power cut loses nothing. */
  keep(): Promise<void>;
  discard(): Promise<void>;
}

/** An upload pauses for 30 s at most, so a file that was not written to for an hour is nobody's any more. */
const ABANDONED_MS = 3_600_000;

/** Blobs in a folder: `<folder>/ab/abcdef…`, each fsynced with its folder before it counts as kept. */
export async function openFolderBlobs(folder: string): Promise<Blobs> {
  const incoming = join(folder, 'incoming');
  await mkdir(incoming, { recursive: true });
  await removeAbandoned(incoming);
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256);

  return {
    async receive(stream) {
      const temporary = join(incoming, randomUUID());
      const hash = createHash('sha256');
      let byte_size = 0;
      const discard = () => rm(temporary, { force: true });
      try {
        await pipeline(
          stream,
          async function* (chunks: AsyncIterable<Buffer>) {
            for await (const chunk of chunks) {
              hash.update(chunk);
              byte_size += chunk.length;
              yield chunk;
            }
          },
          createWriteStream(temporary, { mode: 0o600 }),
        );
      } catch (error) {
        await discard();
        throw error;
      }
      const sha256 = hash.digest('hex');
      return { sha256, byte_size, discard, keep: () => keep(temporary, pathOf(sha256)) };
    },
    async read(sha256) {
      const chunks: Buffer[] = [];
      for await (const chunk of createReadStream(pathOf(sha256))) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
    async stream(sha256, range) {
      const handle = await open(pathOf(sha256), 'r');
      return handle.createReadStream(range);
    },
    sweep: (age_ms, inUse) => sweep(folder, age_ms, inUse),
  };
}

/** What a killed process was receiving was never acknowledged. Another process may be receiving just now. */
async function removeAbandoned(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() })); // Just taken away by its process.
    if (mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { force: true });
  }
}

async function keep(temporary: string, path: string): Promise<void> {
  if (await touch(path)) {
    await rm(temporary, { force: true });
    // Whoever brought the same bytes a moment ago may not have come to this yet.
    await sync(dirname(path));
    return;
  }
  await sync(temporary);
  const folder = dirname(path);
  if (!(await exists(folder))) {
    await mkdir(folder, { recursive: true });
    await sync(dirname(folder));
  }
  await rename(temporary, path);
  await sync(folder);
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
