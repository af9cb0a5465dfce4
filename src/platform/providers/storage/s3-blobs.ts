import { buffer } from 'node:stream/consumers';
import { type BlobStore, isSha256, mapAtOnce, openIncoming, removeAbandoned, removeBefore } from './blobs.ts';
import { openBucket, type S3Bucket } from './s3-bucket.ts';
import type { S3Place } from './s3-place.ts';

/** The SHA-256 of zero bytes. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * Opens blobs in a bucket: `blobs/ab/abcdef…` and `parts/…`. Streams are first received into a local folder to compute
 * hash and length. A blob counts as kept once the bucket has confirmed all of it.
 */
export async function openS3Blobs(place: S3Place, incoming: string): Promise<BlobStore & { close(): void }> {
  const receive = await openIncoming(incoming);
  const bucket = openBucket(place);
  const keep = keepOnce(bucket);
  const blobsPrefix = `${place.prefix}blobs/`;
  const partsPrefix = `${place.prefix}parts/`;
  const keyOf = (sha256: string) => `${blobsPrefix}${sha256.slice(0, 2)}/${sha256}`;
  const partOf = (name: string) => partsPrefix + name;
  return {
    async receive(stream) {
      const file = await receive(stream);
      return {
        sha256: file.sha256,
        byte_size: file.byte_size,
        discard: file.discard,
        async keep() {
          await keep(keyOf(file.sha256), file.byte_size, (key) => bucket.putFile(key, file));
          await file.discard();
        },
        async keepAsPart(name) {
          await bucket.putFile(partOf(name), file);
          await file.discard();
        },
      };
    },
    async keepAll(contents) {
      await mapAtOnce(contents, ({ sha256, content }) =>
        keep(keyOf(sha256), content.length, (key) => bucket.putBytes(key, content)),
      );
    },
    read: async (sha256) => buffer(await bucket.stream(keyOf(sha256))),
    // An empty object has no ranges.
    stream: (sha256, range) => bucket.stream(keyOf(sha256), sha256 === EMPTY ? undefined : range),
    async *list(signal) {
      for await (const { key, byteSize } of bucket.list(blobsPrefix, signal)) {
        const sha256 = key.slice(-64);
        if (isSha256(sha256) && key === keyOf(sha256)) yield { sha256, byte_size: byteSize };
      }
    },
    // One request per blob, because some vendors' servers cannot delete several objects in a request.
    removeAll: (sha256s, deadline) => removeBefore(deadline, sha256s, (sha256) => bucket.remove(keyOf(sha256))),
    async removeUnfinished(ageMs, signal) {
      await removeAbandoned(incoming, ageMs);
      for (const prefix of [blobsPrefix, partsPrefix]) await bucket.abortUnfinished(prefix, ageMs, signal);
    },
    parts: {
      stream: (name) => bucket.stream(partOf(name)),
      remove: async (name) => void (await bucket.remove(partOf(name))),
      async *olderThan(ms, signal) {
        for await (const { key, storedAt } of bucket.list(partsPrefix, signal)) {
          if (storedAt < Date.now() - ms) yield key.slice(partsPrefix.length);
        }
      },
    },
    close: bucket.close,
  };
}

/**
 * Stores contents that the bucket does not have yet. Concurrent callers with the same bytes take turns: the first
 * stores them, or the next if that fails.
 */
function keepOnce(bucket: S3Bucket) {
  /** Contents that are being stored, by key. */
  const keeping = new Map<string, Promise<void>>();
  return async (key: string, byteSize: number, store: (key: string) => Promise<unknown>): Promise<void> => {
    while (keeping.has(key)) await keeping.get(key)?.catch(() => undefined);
    const kept = (async () => {
      if ((await bucket.sizeOf(key)) !== byteSize) await store(key);
    })();
    keeping.set(key, kept);
    try {
      await kept;
    } finally {
      keeping.delete(key);
    }
  };
}
