import { buffer } from 'node:stream/consumers';
import { type Blobs, mapAtOnce, openIncoming, sha256Of } from './blobs.ts';
import { openBucket, type S3Bucket } from './s3-bucket.ts';
import type { S3Place } from './s3-place.ts';

/** The SHA-256 of no bytes. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * Blobs in a bucket: `blobs/ab/abcdef…` and `parts/…`. What comes is received into a folder of this machine first, where
 * its hash and length are found out; it counts as kept when the bucket has said that it has all of it.
 */
export async function openS3Blobs(place: S3Place, incoming: string): Promise<Blobs & { close(): void }> {
  const receive = await openIncoming(incoming);
  const bucket = openBucket(place);
  const keep = keepOnce(bucket);
  const partsPrefix = `${place.prefix}parts/`;
  const keyOf = (sha256: string) => `${place.prefix}blobs/${sha256.slice(0, 2)}/${sha256}`;
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
    keepAll: (contents) =>
      mapAtOnce(contents, async (content) => {
        const sha256 = await sha256Of(content);
        await keep(keyOf(sha256), content.length, (key) => bucket.putBytes(key, content));
        return sha256;
      }),
    read: async (sha256) => buffer(await bucket.stream(keyOf(sha256))),
    // An empty object has no range.
    stream: (sha256, range) => bucket.stream(keyOf(sha256), sha256 === EMPTY ? undefined : range),
    // A bucket cannot be told to delete only what was not stored again since it was looked at: what is whole stays.
    async sweep(age_ms) {
      for (const kind of ['blobs/', 'parts/']) await bucket.abortUnfinished(place.prefix + kind, age_ms);
      return 0;
    },
    parts: {
      stream: (name) => bucket.stream(partOf(name)),
      remove: async (name) => void (await bucket.remove(partOf(name))),
      async *olderThan(ms) {
        for await (const key of bucket.olderThan(partsPrefix, ms)) yield key.slice(partsPrefix.length);
      },
    },
    close: bucket.close,
  };
}

/**
 * Stores contents that the bucket does not have yet. Callers that bring the same bytes at once take turns: the first one
 * stores them, or the next where it could not.
 */
function keepOnce(bucket: S3Bucket) {
  /** Contents that are being stored now, by their key. */
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
