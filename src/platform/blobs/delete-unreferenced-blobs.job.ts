import type { Query } from '../db/db.ts';
import { raw, sql } from '../db/sql.ts';
import { defineJob } from '../jobs/define-job.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import { backupIsBeingMade } from './backup-lock.ts';
import { DELETION_ABANDONED } from './tracked-blobs.ts';

/** Far longer than any write takes from storing a blob to the commit of what refers to it. */
const UNREFERENCED = raw(`interval '24 hours'`);

/** Blobs that are looked at by one statement, and marked and removed together. */
const BATCH = 500;

/** Removing a batch begins no request later than this after marking it: well before DELETION_ABANDONED. */
const REMOVAL_MS = 300_000;

/**
 * Deletes the blobs that no row refers to. Each batch is marked first, in a transaction of its own, so that nothing stores
 * it meanwhile; then the store removes it, and then its rows are deleted. What a crash leaves marked is deleted by a later
 * attempt, when no process can be at it any more.
 */
export const deleteUnreferencedBlobs = defineJob({
  name: 'delete-unreferenced-blobs',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 3_600,
  every: 6 * 3_600,
  async run({ db: { query }, services: { blobs }, signal }) {
    await refuseWhileDeleting(query);
    let last = '';
    while (!signal.aborted) {
      const batch = await query<{ sha256: string }>(sql`
        select sha256 from blobs where sha256 > ${last} order by sha256 limit ${BATCH}`);
      const sha256s = batch.map(({ sha256 }) => sha256);
      await deleteUnreferenced(query, blobs, sha256s);
      last = sha256s.at(-1) ?? '';
      if (sha256s.length < BATCH) return;
    }
  },
});

/** While the store is unavailable, each attempt would mark another batch, which could not be stored for that long. */
async function refuseWhileDeleting(query: Query): Promise<void> {
  const marked = await query(sql`
    select 1 from blobs where deleting_since >= now() - ${DELETION_ABANDONED} limit 1`);
  if (marked.length > 0)
    throw new Error('blobs that an interrupted attempt was deleting are left alone for 10 minutes');
}

async function deleteUnreferenced(query: Query, blobs: Blobs, sha256s: readonly string[]): Promise<void> {
  const deadline = Date.now() + REMOVAL_MS;
  const marked = await query<{ sha256: string; mark: string }>(sql`
    with unreferenced as (
      select b.sha256 from blobs b
      where b.sha256 = any (${sha256s}::text[])
        and (b.deleting_since < now() - ${DELETION_ABANDONED}
          or (b.deleting_since is null and b.kept_at < now() - ${UNREFERENCED}))
        and not exists (select from wal_archive w where w.files_until <= b.kept_at)
        and not exists (select from blob_references r where r.sha256 = b.sha256)
        and not ${backupIsBeingMade}
      for update of b skip locked
    )
    update blobs b set deleting_since = now() from unreferenced u where b.sha256 = u.sha256
    returning b.sha256, b.deleting_since::text as mark`);
  const [first] = marked;
  if (!first) return;
  const gone = marked.map(({ sha256 }) => sha256);
  await blobs.removeAll(gone, deadline);
  // Where it took so long that another attempt marked them again, their rows are that one's.
  await query(sql`
    delete from blobs where sha256 = any (${gone}::text[]) and deleting_since = ${first.mark}::timestamptz`);
}
