import { ApiError } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { Db, Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { refuseStorage, type StorageUse, storageOf } from '../../../platform/http/upload-limits.ts';
import { type ClaimedJob, defineRecordJob } from '../../../platform/jobs/define-job.ts';
import { endJob, requireRights, showProgress } from '../../../platform/jobs/record-queue.ts';
import type { ReceivedBlob } from '../../../platform/providers/storage/blobs.ts';
import type { Manifest } from './archive-format.ts';
import { SEAL_FILE, sealFile, sealOf } from './archive-seal.ts';
import { writeAttachments, writeRecords } from './write-archive.ts';
import { openZipWriter } from './zip-writer.ts';

/** Writes the archive of a wiki. After a crash the next attempt starts over. */
export const exportJob = defineRecordJob({
  name: 'export',
  lane: 'uploads',
  attempts: 5,
  async run({ db, job, services: { blobs, signatures }, signal }) {
    const zip = openZipWriter();
    // Buffered on this machine; the store is not involved until `keep`.
    const receiving = blobs.receive(zip.stream);
    // A failure is thrown where `receiving` is awaited; until then, fail the ZIP writer at once.
    receiving.catch((error: Error) => zip.fail(error));
    const progress = progressOf(db, job, signal);
    try {
      const onProgress = progress.show;
      const records = await db.snapshot(async (query) => {
        const view = await readView(query, job);
        return { view, ...(await writeRecords(query, job, { zip, onProgress })) };
      });
      await writeAttachments(records, { blobs, zip, onProgress });
      await zip.add(SEAL_FILE, sealFile(await sealOf(signatures, records.hashes)));
      await progress.shown();
      zip.end();
      await end(db, job, records, await receiving);
    } catch (error) {
      zip.fail(error as Error);
      // It fails because of the error that is rethrown below.
      await receiving.catch(() => undefined);
      // The process is stopping, or the job was lost.
      if (error !== signal.reason) throw error;
    }
  },
  async onFailure(query, job, error) {
    await endJob(query, job, { status: 'failed', summary: '', error });
    await recordEnd(query, job, 'failed', { error });
  },
});

/**
 * Shows the progress outside the snapshot, on a connection of its own, without delaying the snapshot. `show` throws the
 * reason of the signal, or the error of an earlier update.
 */
function progressOf(db: Db, job: ClaimedJob, signal: AbortSignal) {
  let showing: Promise<void> | undefined;
  let failure: Error | undefined;
  return {
    show(part: number): void {
      signal.throwIfAborted();
      if (failure) throw failure;
      showing ??= db
        .transaction((query) => showProgress(query, job, Math.min(99, Math.floor(100 * part))))
        .catch((error: Error) => {
          failure = error;
        })
        .finally(() => {
          showing = undefined;
        });
    },
    async shown(): Promise<void> {
      await showing;
      if (failure) throw failure;
    },
  };
}

/** The restrictions whose pages the maker sees, as bits, and the number of the last one. */
interface View {
  reads: string;
  acls: number;
}

async function readView(query: Query, { wiki_id }: ClaimedJob): Promise<View> {
  const [view] = await query<View>(sql`
    select own_reads()::text as reads, w.acls from wikis w where w.wiki_id = ${wiki_id}`);
  if (!view) throw new Error('the wiki of an export does not exist');
  return view;
}

/**
 * Throws an ApiError if the maker may not export the wiki any more, or does not see all pages of the archive, because a
 * grant ended or another page was restricted.
 */
async function refuseRevoked(query: Query, job: ClaimedJob, { reads, acls }: View): Promise<void> {
  await requireRights(query, job);
  const [row] = await query<{ sees_all: boolean }>(sql`
    select numbers_of(${reads}::bit varying) || array(select generate_series(${acls}::int + 1, w.acls)) <@ numbers_of(own_reads())
      as sees_all
    from wikis w where w.wiki_id = ${job.wiki_id}`);
  if (!row?.sees_all) {
    throw new ApiError('forbidden', 'You have lost access to pages while they were exported. Export the wiki again.');
  }
}

async function end(
  db: Db,
  job: ClaimedJob,
  { manifest, view }: { manifest: Manifest; view: View },
  archive: ReceivedBlob,
): Promise<void> {
  await db.transaction((query) => refuseRevoked(query, job, view));
  await keepWithin(db, job, archive);
  const { sha256, byte_size } = archive;
  const { pages, revisions, attachments } = manifest;
  const summary = `${pages} pages with ${revisions} revisions and ${attachments} attachments, ${byte_size} bytes.`;
  await db.transaction(async (query) => {
    await endJob(query, job, { status: 'completed', summary, error: '' });
    await query(sql`
      update exports set sha256 = ${sha256}, byte_size = ${byte_size}, expires_at = now() + interval '7 days'
      where wiki_id = ${job.wiki_id} and export_id = ${job.job_id}`);
    await recordEnd(query, job, 'completed', { sha256 });
  });
}

/** Keeps the archive, or discards it if it exceeds the storage quota of the workspace. */
async function keepWithin(db: Db, { wiki_id }: ClaimedJob, archive: ReceivedBlob): Promise<void> {
  const [storage] = await db.query<StorageUse>(sql`
    select s.used, s.allowed from wikis w cross join lateral (${storageOf(sql`w.workspace_id`)}) s
    where w.wiki_id = ${wiki_id}`);
  try {
    if (storage) refuseStorage(storage, archive.byte_size);
  } catch (error) {
    await archive.discard();
    throw error;
  }
  await archive.keep();
}

/**
 * Writes the audit record for the end of an export or import. It has no actor, like the record for the end of an
 * upload, and no summary: that tells of pages and files that readers of the audit log may not see.
 */
export async function recordEnd(
  query: Query,
  { wiki_id, job_id, kind }: ClaimedJob,
  status: 'completed' | 'failed',
  after: object,
): Promise<void> {
  await query(sql`
    insert into audit_events (event_id, workspace_id, type, target_kind, target_id, request_id, address, after)
    select ${newId('evt')}, w.workspace_id, ${`${kind}.${status}`}, ${kind}, ${job_id}, '', '', ${JSON.stringify(after)}::jsonb
    from wikis w where w.wiki_id = ${wiki_id}`);
}
