import { createHash, hash, randomUUID, subtle } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Files by their content: what is stored under a SHA-256 (64 hex digits) never changes. */
export interface Blobs {
  /** Takes a stream to the store's side, not yet durable, and says what it was. */
  receive(stream: Readable): Promise<ReceivedBlob>;
  /** Stores contents that are at hand, durable when it answers, and answers their hashes in the same order. */
  keepAll(contents: readonly Uint8Array[]): Promise<string[]>;
  /** The whole content. Errors: ENOENT where there is no such blob. */
  read(sha256: string): Promise<Buffer>;
  /**
   * The content, or the bytes from `start` to `end` (both included), as a stream that is open already. A caller who does not
   * read it to its end destroys it. Errors: ENOENT where there is no such blob.
   */
  stream(sha256: string, range?: { start: number; end: number }): Promise<Readable>;
  /** Everything that is stored, in no order; what is stored or removed meanwhile may be missing. `signal` ends it with an error. */
  list(signal?: AbortSignal): AsyncIterable<StoredBlob>;
  /**
   * Removes blobs; one that is not there is no error. It begins no removal after `deadline` (ms since the epoch). Errors:
   * StorageUnavailable, also when the time is up; then some of them are removed.
   */
  removeAll(sha256s: readonly string[], deadline: number): Promise<void>;
  /** Removes what killed processes began to store longer ago than this and never completed. */
  removeUnfinished(ageMs: number, signal?: AbortSignal): Promise<void>;
  /** Pieces of what is not whole yet, by names that their writers choose. */
  parts: Parts;
}

/** Where blobs are stored, as providers implement it; the service goes through `trackBlobs`. */
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
  /** One that is not there is no error. */
  remove(name: string): Promise<void>;
  /** The names of those that were written longer ago than this many milliseconds. */
  olderThan(ms: number, signal?: AbortSignal): AsyncIterable<string>;
}

export interface ReceivedBlob extends StoredBlob {
  /** Makes the blob durable under its hash; when it answers, a power cut loses nothing. */
  keep(): Promise<void>;
  /** Makes it a part, as durable. */
  keepAsPart(name: string): Promise<void>;
  discard(): Promise<void>;
}

/** The store is away or full for now: what was asked of it may be asked again. */
export class StorageUnavailable extends Error {}

/** From this size on a hash takes so long that requests would notice, and is made beside them. */
const LARGE = 2 ** 20;

export async function sha256Of(content: Uint8Array): Promise<string> {
  if (content.length < LARGE) return hash('sha256', content);
  return Buffer.from(await subtle.digest('SHA-256', new Uint8Array(content))).toString('hex');
}

/** What `work` makes of each item, in their order; as many are worked on at once as the store has use for. */
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

/** What was received and lies in a file of this machine. */
export interface Incoming {
  path: string;
  sha256: string;
  byte_size: number;
  discard(): Promise<void>;
}

/** An upload pauses for 30 s at most, so a file that was not written to for an hour is abandoned. */
const ABANDONED_MS = 3_600_000;

/** A folder that streams are received into. What killed processes left in it is removed. */
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

/** What a killed process was receiving was never acknowledged. Another process may be receiving just now. */
export async function removeAbandoned(folder: string, ageMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() })); // Just taken away by its process.
    if (mtimeMs < Date.now() - ageMs) await rm(path, { force: true });
  }
}

export function isSha256(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** Removes each before the deadline; after it, what is removed could be what has been stored again. */
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
