import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
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
  if (await exists(path)) {
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

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
