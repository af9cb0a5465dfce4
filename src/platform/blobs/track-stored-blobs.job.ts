import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { defineJob } from '../jobs/define-job.ts';
import type { StoredBlob } from '../providers/storage/blobs.ts';

const BATCH = 1_000;

/**
 * Inserts rows for untracked blobs in the store: blobs older than the table, and blobs stored after the backup from
 * which the database was restored. They count as stored now.
 */
export const trackStoredBlobs = defineJob({
  name: 'track-stored-blobs',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 6 * 3_600,
  every: 7 * 24 * 3_600,
  async run({ db: { query }, services: { blobs }, signal }) {
    let batch: StoredBlob[] = [];
    for await (const blob of blobs.list(signal)) {
      if (signal.aborted) return;
      batch.push(blob);
      if (batch.length < BATCH) continue;
      await track(query, batch);
      batch = [];
    }
    await track(query, batch);
  },
});

async function track(query: Query, blobs: readonly StoredBlob[]): Promise<void> {
  const [sha256s, sizes] = [blobs.map(({ sha256 }) => sha256), blobs.map(({ byte_size }) => byte_size)];
  await query(sql`
    insert into blobs (sha256, byte_size)
    select g.sha256, g.byte_size from unnest(${sha256s}::text[], ${sizes}::bigint[]) as g (sha256, byte_size)
    order by g.sha256 on conflict do nothing`);
}
