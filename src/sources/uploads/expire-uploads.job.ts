import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import { EXPIRED, givenUp, hasFailedBytes, WAITS } from './upload-file.ts';

/** How long the bytes of a failed upload are kept for a retry. */
const RETRY_DAYS = raw(`interval '7 days'`);

/**
 * Fails the uploads of a wiki that have received no bytes for too long, and gives up the bytes of uploads that failed
 * long ago.
 */
export const expireUploads = defineJob({
  name: 'expire-uploads',
  for: 'wiki',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 300,
  every: 600,
  due: sql`
    select wiki_id, workspace_id from wikis_with_expired_uploads(${WAITS})
    union select wiki_id, workspace_id from wikis_with_failed_files(${RETRY_DAYS})`,
  async run({ db, target: { wiki_id }, signal }) {
    const waiting = await db.query<{ upload_id: string }>(sql`
      select upload_id from uploads
      where wiki_id = ${wiki_id} and status = 'uploading' and updated_at < now() - ${WAITS}`);
    for (const { upload_id } of waiting) {
      if (signal.aborted) return;
      await db.query(sql`
        with ended as (
          update uploads set status = 'failed', error = ${EXPIRED}, updated_at = now(), finished_at = now()
          where wiki_id = ${wiki_id} and upload_id = ${upload_id} and status = 'uploading' and updated_at < now() - ${WAITS}
          returning *
        ), files as (
          update upload_files f set status = 'failed', error = ${EXPIRED} from ended e
          where f.wiki_id = e.wiki_id and f.upload_id = e.upload_id and f.kind = 'file' and f.status = 'pending'
        ), gone as (
          delete from upload_parts p using ended e where p.wiki_id = e.wiki_id and p.upload_id = e.upload_id
        )
        insert into audit_events (event_id, workspace_id, type, target_kind, target_id, request_id, address, before, after)
        select ${newId('evt')}, w.workspace_id, 'upload.expired', 'upload', e.upload_id, '', '',
          jsonb_build_object('status', 'uploading'), jsonb_build_object('status', e.status, 'error', e.error)
        from ended e join wikis w on w.wiki_id = e.wiki_id`);
    }
    await db.transaction(async (query) => {
      // The lock that a retry takes too, so that a retry never loses its bytes.
      await query(sql`select from wikis where wiki_id = ${wiki_id} for no key update`);
      await query(sql`
        update upload_files f set ${givenUp} from uploads u
        where f.wiki_id = ${wiki_id} and ${hasFailedBytes} and u.wiki_id = f.wiki_id and u.upload_id = f.upload_id
          and u.status = 'failed' and u.finished_at < now() - ${RETRY_DAYS}`);
    });
  },
});

/** A row refers to a new part within seconds; older parts without a row are orphaned. */
const ORPHANED_MS = 3_600_000;
const BATCH = 500;

/** Removes stored parts that no upload refers to. */
export const removeOrphanedParts = defineJob({
  name: 'remove-orphaned-parts',
  for: 'service',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 3_600,
  every: 600,
  async run({ db, services: { blobs }, signal }) {
    let names: string[] = [];
    for await (const name of blobs.parts.olderThan(ORPHANED_MS, signal)) {
      if (signal.aborted) return;
      names.push(name);
      if (names.length < BATCH) continue;
      await removeOrphaned(db.query, blobs, names);
      names = [];
    }
    await removeOrphaned(db.query, blobs, names);
  },
});

async function removeOrphaned(query: Query, blobs: Blobs, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const known = await query<{ name: string }>(sql`
    select name from upload_parts where name = any (${names}::text[])`);
  const isKnown = new Set(known.map(({ name }) => name));
  for (const name of names) if (!isKnown.has(name)) await blobs.parts.remove(name);
}
