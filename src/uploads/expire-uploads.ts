import { newId } from '../core/ids.ts';
import type { ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { sql } from '../db/sql.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import { EXPIRED, WAITS } from './upload-file.ts';

/** A part is named by a row within seconds of its writing. */
const LOST_MS = 3_600_000;

/** Ends uploads that nobody sends bytes of any more, and removes parts that are nobody's. Any number may do so at once. */
export async function expireUploads(db: ServiceDb, blobs: Blobs): Promise<void> {
  const wikis = await db.in(SERVICE).query<{ wiki_id: string }>(sql`
    select wikis_with_forgotten_uploads(${WAITS}) as wiki_id`);
  for (const { wiki_id } of wikis) await expireInWiki(db, wiki_id);
  let names: string[] = [];
  for await (const name of blobs.parts.olderThan(LOST_MS)) {
    names.push(name);
    if (names.length < 500) continue;
    await removeLost(db, blobs, names);
    names = [];
  }
  await removeLost(db, blobs, names);
}

async function expireInWiki(db: ServiceDb, wiki_id: string): Promise<void> {
  const { query } = db.in({ who: 'job', path: { wiki_id } });
  const waiting = await query<{ upload_id: string }>(sql`
    select upload_id from uploads
    where wiki_id = ${wiki_id} and status = 'uploading' and updated_at < now() - ${WAITS} limit 100`);
  for (const { upload_id } of waiting) {
    await query(sql`
      with ended as (
        update uploads set status = 'failed', error = ${EXPIRED}, updated_at = now(), finished_at = now()
        where wiki_id = ${wiki_id} and upload_id = ${upload_id} and status = 'uploading' and updated_at < now() - ${WAITS}
        returning *
      ), gone as (
        delete from upload_parts p using ended e where p.wiki_id = e.wiki_id and p.upload_id = e.upload_id
      )
      insert into audit_events (event_id, workspace_id, type, target_kind, target_id, request_id, address, before, after)
      select ${newId('evt')}, w.workspace_id, 'upload.expired', 'upload', e.upload_id, '', '',
        jsonb_build_object('status', 'uploading'), jsonb_build_object('status', e.status, 'error', e.error)
      from ended e join wikis w on w.wiki_id = e.wiki_id`);
  }
}

async function removeLost(db: ServiceDb, blobs: Blobs, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const known = await db.in(SERVICE).query<{ name: string }>(sql`
    select name from upload_parts where name = any (${names}::text[])`);
  const isKnown = new Set(known.map(({ name }) => name));
  for (const name of names) if (!isKnown.has(name)) await blobs.parts.remove(name);
}
