import type { Logger } from 'pino';
import type { ContextDb } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { toApiError, toStorageError } from '../http/to-api-error.ts';
import type { ClaimedJob, Outcome, RecordJob, ServicesOf } from './define-job.ts';
import { LeaseLost, releaseJob } from './record-queue.ts';

/** Pause of a job when the database or the file store is unavailable. */
const UNAVAILABLE_SECONDS = 2;

/**
 * Runs one attempt of a public job and records its result. `lost` is aborted if the job was cancelled or taken over.
 */
export async function runRecordJob(
  definition: RecordJob,
  run: { db: ContextDb; job: ClaimedJob; services: ServicesOf; log: Logger; stopping: AbortSignal; lost: AbortSignal },
): Promise<Outcome> {
  const { db, job, log, stopping, lost } = run;
  // After this many attempts without a result, the job itself must be the reason.
  if (job.failures > definition.attempts) {
    log.error({ job_id: job.job_id, failures: job.failures }, 'a job failed: none of its attempts finished');
    const text = `worker_lost: gave up after ${definition.attempts} attempts: every worker process ended or stalled`;
    await db.transaction((query) => definition.onFailure(query, job, text));
    return 'failed';
  }
  try {
    const services = run.services(await workspaceOf(db, job));
    await definition.run({ db, job, services, signal: AbortSignal.any([stopping, lost]) });
    lost.throwIfAborted();
    if (!stopping.aborted) {
      await analyzeGrownTables(db, log);
      return 'succeeded';
    }
    await releaseJob(db, job, undefined);
    return 'interrupted';
  } catch (err) {
    if (err instanceof LeaseLost) {
      log.warn(
        { job_id: job.job_id },
        'the job was cancelled, or given to another attempt because this worker did not renew its lease in time',
      );
      return 'interrupted';
    }
    const answer = toApiError(err);
    if (answer.code === 'quota_exceeded' || answer.code === 'forbidden') {
      log.info({ job_id: job.job_id, reason: answer.message }, 'a job ended at a limit of its workspace or person');
      await db.transaction((query) => definition.onFailure(query, job, `${answer.code}: ${answer.message}`));
      return 'failed';
    }
    if (isUnavailable(err)) {
      log.warn({ err, job_id: job.job_id }, 'the database or the file store is unavailable; the job will be retried');
      await releaseJob(db, job, undefined, UNAVAILABLE_SECONDS);
      return 'interrupted';
    }
    if (job.failures < definition.attempts) {
      log.error({ err, job_id: job.job_id, failures: job.failures }, 'an attempt of a job failed');
      await releaseJob(db, job, 'internal_error: the work was interrupted and will be retried');
      return 'retried';
    }
    log.error({ err, job_id: job.job_id, failures: job.failures }, 'a job failed');
    await db.transaction((query) =>
      definition.onFailure(query, job, 'internal_error: gave up after repeated failures'),
    );
    return 'failed';
  }
}

/** Errors are only logged: the job's writes are committed, and autovacuum does the same later. */
async function analyzeGrownTables(db: ContextDb, log: Logger): Promise<void> {
  try {
    await db.query(sql`select analyze_grown_tables()`);
  } catch (err) {
    log.warn({ err }, 'failed to analyze tables that have grown; autovacuum will analyze them');
  }
}

/** Returns the workspace of the job's wiki; "" if the wiki was deleted. */
async function workspaceOf(db: ContextDb, { wiki_id }: ClaimedJob): Promise<string> {
  const [wiki] = await db.query<{ workspace_id: string | null }>(sql`
    select workspace_id from wikis where wiki_id = ${wiki_id}`);
  return wiki?.workspace_id ?? '';
}

/**
 * Returns whether an error is a temporary fault of the database, the file store or a limit, which does not count as a
 * failed attempt. A statement timeout is a failure, and so is a missing file, because retrying does not bring it back.
 */
export function isUnavailable(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  if (code === '57014' || code === 'ENOENT') return false;
  return /^(database_unavailable|storage_unavailable|overloaded|rate_limited)$/.test(
    toApiError(toStorageError(error)).code,
  );
}
