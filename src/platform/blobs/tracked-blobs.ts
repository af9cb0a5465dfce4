import { setTimeout as pause } from 'node:timers/promises';
import type { Query } from '../db/db.ts';
import { raw, sql } from '../db/sql.ts';
import {
  type BlobStore,
  type Blobs,
  mapAtOnce,
  StorageUnavailable,
  type StoredBlob,
  sha256Of,
} from '../providers/storage/blobs.ts';

/** Age of a deletion mark after which no process can still be deleting the blob. */
export const DELETION_ABANDONED = raw(`interval '10 minutes'`);

/** How long a caller waits for a blob that is being deleted, and its polling interval. */
const WAIT_MS = 3_000;
const LOOK_MS = 50;

/**
 * Wraps a store so that each blob has a row in the table `blobs`. The row is written before the object, so that no
 * object is untracked and none is stored while it is being deleted. `query` runs as the service, outside the caller's
 * transaction: a row only says that bytes may exist, which stays true if the caller's write is rolled back.
 */
export function trackBlobs(store: BlobStore, query: Query): Blobs {
  return {
    ...store,
    async receive(stream) {
      const received = await store.receive(stream);
      return {
        ...received,
        async keep() {
          await recordKept(query, [received]);
          await received.keep();
        },
      };
    },
    async keepAll(contents) {
      const hashed = await mapAtOnce(contents, async (content) => ({ sha256: await sha256Of(content), content }));
      await recordKept(
        query,
        hashed.map(({ sha256, content }) => ({ sha256, byte_size: content.length })),
      );
      await store.keepAll(hashed);
      return hashed.map(({ sha256 }) => sha256);
    },
  };
}

/**
 * Records that these blobs are stored now, which gives callers 24 hours to reference them. Throws StorageUnavailable if
 * a blob is still being deleted after WAIT_MS.
 */
async function recordKept(query: Query, blobs: readonly StoredBlob[]): Promise<void> {
  const left = new Map(blobs.map(({ sha256, byte_size }) => [sha256, byte_size]));
  for (const deadline = performance.now() + WAIT_MS; left.size > 0; await pause(LOOK_MS)) {
    // In sorted order, so that callers who store the same blobs concurrently do not deadlock.
    const kept = await query<{ sha256: string }>(sql`
      insert into blobs as b (sha256, byte_size)
      select g.sha256, g.byte_size from unnest(${[...left.keys()]}::text[], ${[...left.values()]}::bigint[])
        as g (sha256, byte_size)
      order by g.sha256
      on conflict (sha256) do update set kept_at = now(), deleting_since = null
      where b.deleting_since is null or b.deleting_since < now() - ${DELETION_ABANDONED}
      returning b.sha256`);
    for (const { sha256 } of kept) left.delete(sha256);
    if (left.size === 0) return;
    if (performance.now() > deadline) throw new StorageUnavailable('a blob that is to be stored is being deleted');
  }
}
