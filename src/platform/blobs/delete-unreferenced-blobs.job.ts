import type { Query } from '../db/db.ts';
import { raw, sql } from '../db/sql.ts';
import { defineJob } from '../jobs/define-job.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import { backupIsBeingMade } from './backup-lock.ts';
import { DELETION_ABANDONED } from './tracked-blobs.ts';

/** Much longer than any write needs between storing a blob and committing a reference to it. */
const UNREFERENCED = raw(`interval '24 hours'`);

/** Blobs that one statement checks, and that are marked and removed together. */
const BATCH = 500;

/** After marking a batch, no removal request starts later than this. Well below DELETION_ABANDONED. */
const REMOVAL_MS = 300_000;

/**
 * Deletes blobs without references. For each batch, it first marks the rows in a separate transaction, so that no
 * process stores these blobs again; then it removes the objects, then the rows. Blobs left marked by a crash are
 * deleted by a later attempt, once DELETION_ABANDONED has passed and no process can still be deleting them.
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

/**
 * Without this check, each attempt during an outage of the store would mark another batch, and clients could not store
 * marked blobs.
 */
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
  // If the removal took so long that another attempt marked the rows again, they belong to that attempt.
  await query(sql`
    delete from blobs where sha256 = any (${gone}::text[]) and deleting_since = ${first.mark}::timestamptz`);
}
