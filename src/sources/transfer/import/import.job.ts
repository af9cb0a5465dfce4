import type { ContextDb, Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type ClaimedJob, defineRecordJob, type JobServices } from '../../../platform/jobs/define-job.ts';
import { endJob } from '../../../platform/jobs/record-queue.ts';
import { enterProcess } from '../../ingest/file-attempts.ts';
import { MANIFEST_FILE } from '../export/archive-format.ts';
import { recordEnd } from '../export/export.job.ts';
import { ArchiveError } from './archive-error.ts';
import { importFolder } from './import-folder.ts';
import { importWiki } from './import-wiki.ts';
import { openArchive } from './open-archive.ts';
import { publishImport } from './publish-import.ts';
import { openStaging, removeStagedRows } from './staged-rows.ts';

/** Maximum number of entries in an archive, and its maximum unpacked size as a multiple of an upload's. */
const ENTRIES_MAX = 500_000;
const UNPACKED = 10;

/**
 * Imports an archive. Batches are read, rendered and written to staging tables; then one transaction publishes all of
 * them or none. After a crash the next attempt starts over.
 */
export const importJob = defineRecordJob({
  name: 'import',
  lane: 'uploads',
  attempts: 5,
  async run({ db, job, services, signal }) {
    // An archive might end the process, and a suspected file that ran at the same time would be blamed.
    const leave = await enterProcess([], signal);
    if (!leave) return;
    try {
      await prepareAndPublish(db, job, services, signal);
    } catch (error) {
      // The process is stopping, or the job was lost.
      if (error === signal.reason) return;
      if (!(error instanceof ArchiveError)) throw error;
      await db.transaction((query) => fail(query, job, `${error.code}: ${error.message}`));
    } finally {
      // If the process is killed first, the job remove-staged-rows cleans up.
      await removeStagedRows(db.query, job.wiki_id).finally(leave);
    }
  },
  onFailure: fail,
});

async function prepareAndPublish(
  db: ContextDb,
  job: ClaimedJob,
  { blobs, sandbox, signatures, limits }: JobServices,
  signal: AbortSignal,
): Promise<void> {
  const { query } = db;
  const { wiki_id, job_id } = job;
  const [made] = await query<{ sha256: string; creator: string; now: string }>(sql`
    select sha256, created_by as creator, now() as now from imports where wiki_id = ${wiki_id} and import_id = ${job_id}`);
  if (!made) throw new Error('an import job has no archive');
  const { sha256, creator, now } = made;
  const stream = await blobs.stream(sha256);
  const archive = await openArchive(stream, { entries: ENTRIES_MAX, bytes: UNPACKED * limits.upload_bytes });
  try {
    const staging = await openStaging(db, job, signal);
    const context = { query, staging, wiki_id, creator, now, archive, blobs, sandbox, signatures, limits };
    const prepared = await (archive.has(MANIFEST_FILE) ? importWiki(context) : importFolder(context));
    await db.transaction((query) => publishImport(query, job, prepared));
  } finally {
    archive.close();
  }
}

async function fail(query: Query, job: ClaimedJob, error: string): Promise<void> {
  await endJob(query, job, { status: 'failed', summary: '', error });
  await recordEnd(query, job, 'failed', { error: error.split(':', 1)[0] });
}
