import { newId } from '../../core/ids.ts';
import type { Query } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { type ClaimedJob, defineRecordJob } from '../../jobs/define-job.ts';
import { endJob, showProgress } from '../../jobs/record-queue.ts';
import { writeArchive } from './write-archive.ts';
import { openZipWriter } from './zip-writer.ts';

/** Makes the archive of a wiki. After a crash the next attempt starts over. */
export const exportJob = defineRecordJob({
  name: 'export',
  lane: 'uploads',
  attempts: 5,
  async run({ db, job, services: { blobs }, signal }) {
    const zip = openZipWriter();
    const receiving = blobs.receive(zip.stream);
    // Its failure is thrown where it is waited for; what is being written is told at once.
    receiving.catch((error: Error) => zip.fail(error));
    const onProgress = async (part: number) => {
      if (signal.aborted) throw new Stopped();
      await db.transaction((query) => showProgress(query, job, Math.min(99, Math.floor(100 * part))));
    };
    const manifest = await db
      .snapshot((query) => writeArchive(query, job.wiki_id, { blobs, zip, onProgress }))
      .catch(async (error: Error) => {
        zip.fail(error);
        // It fails because the archive did, which is what is thrown.
        await receiving.catch(() => undefined);
        if (!(error instanceof Stopped)) throw error;
      });
    if (!manifest) return;
    zip.end();
    const received = await receiving;
    await received.keep();
    const { pages, revisions, attachments } = manifest;
    const summary = `${pages} pages with ${revisions} revisions and ${attachments} attachments, ${received.byte_size} bytes.`;
    await db.transaction(async (query) => {
      await endJob(query, job, { status: 'completed', summary, error: '' });
      await query(sql`
          update exports set sha256 = ${received.sha256}, byte_size = ${received.byte_size}, expires_at = now() + interval '7 days'
          where wiki_id = ${job.wiki_id} and export_id = ${job.job_id}`);
      await recordEnd(query, job, 'completed', { summary, sha256: received.sha256 });
    });
  },
  async onFailure(query, job, error) {
    await endJob(query, job, { status: 'failed', summary: '', error });
    await recordEnd(query, job, 'failed', { error });
  },
});

/** The process is to stop: the job is put back. */
class Stopped extends Error {}

/** The audit record of how an export or an import ended; it has no actor, as the end of an upload. */
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
