import { createHash, hash, randomUUID, subtle } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Files by their content. The content of a SHA-256 (64 hex digits) never changes. */
export interface Blobs {
  /** Receives a stream into temporary storage and returns its hash and length. It is not durable before `keep`. */
  receive(stream: Readable): Promise<ReceivedBlob>;
  /** Stores contents durably and returns their hashes in the same order. */
  keepAll(contents: readonly Uint8Array[]): Promise<string[]>;
  /** Reads the whole content. Throws ENOENT if there is no such blob. */
  read(sha256: string): Promise<Buffer>;
  /**
   * Opens a stream of the content, or of the bytes from `start` to `end` (both included). A caller that does not read
   * it to its end must destroy it. Throws ENOENT if there is no such blob.
   */
  stream(sha256: string, range?: { start: number; end: number }): Promise<Readable>;
  /**
   * Lists all blobs in no particular order. Blobs that are stored or removed at the same time may be missing. Aborting
   * `signal` ends the list with an error.
   */
  list(signal?: AbortSignal): AsyncIterable<StoredBlob>;
  /**
   * Removes blobs and ignores missing ones. Starts no removal after `deadline` (ms since the epoch). Throws
   * StorageUnavailable, also after the deadline; some of the blobs may have been removed by then.
   */
  removeAll(sha256s: readonly string[], deadline: number): Promise<void>;
  /** Removes incomplete data of killed processes that is older than this. */
  removeUnfinished(ageMs: number, signal?: AbortSignal): Promise<void>;
  /** Parts of incomplete files, by names that their writers choose. */
  parts: Parts;
}

/** The interface that storage providers implement; the rest of the service uses `trackBlobs`. */
export interface BlobStore extends Omit<Blobs, 'keepAll'> {
  keepAll(contents: readonly HashedContent[]): Promise<void>;
}

export interface StoredBlob {
  sha256: string;
  byte_size: number;
}

interface HashedContent {
  sha256: string;
  content: Uint8Array;
}

interface Parts {
  /** As `stream` of a blob. */
  stream(name: string): Promise<Readable>;
  /** Ignores missing parts. */
  remove(name: string): Promise<void>;
  /** Yields the names of parts that are older than this many milliseconds. */
  olderThan(ms: number, signal?: AbortSignal): AsyncIterable<string>;
}

export interface ReceivedBlob extends StoredBlob {
  /** Makes the blob durable under its hash. After that, a power failure loses nothing. */
  keep(): Promise<void>;
  /** Makes the content a part, as durably as `keep`. */
  keepAsPart(name: string): Promise<void>;
  discard(): Promise<void>;
}

/** The store is unreachable or full at the moment; the caller can retry. */
export class StorageUnavailable extends Error {}

/** From this size on, hashing would block the event loop noticeably and runs in the thread pool. */
const LARGE = 2 ** 20;

export async function sha256Of(content: Uint8Array): Promise<string> {
  if (content.length < LARGE) return hash('sha256', content);
  return Buffer.from(await subtle.digest('SHA-256', new Uint8Array(content))).toString('hex');
}

/** Maps items in order, with as many concurrent calls of `work` as are useful for the store. */
export async function mapAtOnce<Item, Made>(
  items: readonly Item[],
  work: (item: Item) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  const waiting = items.entries();
  const lanes = Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
    for (const [at, item] of waiting) made[at] = await work(item);
  });
  await Promise.all(lanes);
  return made;
}

const AT_ONCE = 16;

/** A received stream in a local file. */
export interface Incoming {
  path: string;
  sha256: string;
  byte_size: number;
  discard(): Promise<void>;
}

/** An upload pauses for at most 30 s, so a file that was not written to for an hour is abandoned. */
const ABANDONED_MS = 3_600_000;

/** Opens a folder for receiving streams, and removes files that killed processes left in it. */
export async function openIncoming(folder: string): Promise<(stream: Readable) => Promise<Incoming>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeAbandoned(folder, ABANDONED_MS);
  return async (stream) => {
    const path = join(folder, randomUUID());
    const hash = createHash('sha256');
    let byte_size = 0;
    const discard = () => rm(path, { force: true });
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
        createWriteStream(path, { mode: 0o600 }),
      );
    } catch (error) {
      await discard();
      throw error;
    }
    return { path, sha256: hash.digest('hex'), byte_size, discard };
  };
}

/**
 * Removes old files of killed processes, whose uploads were never acknowledged. Recent files may still be in use by
 * other processes.
 */
export async function removeAbandoned(folder: string, ageMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() })); // Its process has moved it.
    if (mtimeMs < Date.now() - ageMs) await rm(path, { force: true });
  }
}

export function isSha256(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** Removes blobs before the deadline. After it, a removal could hit a blob that has been stored again. */
export async function removeBefore(
  deadline: number,
  sha256s: readonly string[],
  remove: (sha256: string) => Promise<unknown>,
): Promise<void> {
  await mapAtOnce(sha256s, async (sha256) => {
    if (Date.now() > deadline) throw new StorageUnavailable('the store did not remove all blobs in time');
    await remove(sha256);
  });
}
