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

/** Entries of an archive at most, and their unpacked size as a multiple of that of an upload. */
const ENTRIES_MAX = 500_000;
const UNPACKED = 10;

/**
 * Makes pages of an archive. What it reads and renders is written into staging tables, batch by batch; then one transaction
 * publishes all of it or nothing. After a crash the next attempt starts over.
 */
export const importJob = defineRecordJob({
  name: 'import',
  lane: 'uploads',
  attempts: 5,
  async run({ db, job, services, signal }) {
    // A suspected file must not run beside an archive, which might end the process instead of it.
    const leave = await enterProcess([], signal);
    if (!leave) return;
    try {
      await prepareAndPublish(db, job, services, signal);
    } catch (error) {
      // The process is to stop, or the job was lost.
      if (error === signal.reason) return;
      if (!(error instanceof ArchiveError)) throw error;
      await db.transaction((query) => fail(query, job, `${error.code}: ${error.message}`));
    } finally {
      // Where the process is killed before, the job remove-staged-rows does it.
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
  await recordEnd(query, job, 'failed', { error });
}
