import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { openSharedProcess } from '../../platform/jobs/alone.ts';
import type { ClaimedJob } from '../../platform/jobs/define-job.ts';
import type { PendingFile } from './compiled-upload.ts';

/**
 * Attempts per file: a file that was in work each time the service ended is not tried again. The last attempt runs
 * alone in the process, so that no file fails because of another file.
 */
const ATTEMPTS = 3;

/** Files that start together: one statement counts the attempt of all, and all become suspects if the service ends. */
const BEGUN_TOGETHER = 200;

export const INTERRUPTED = {
  ok: false,
  code: 'interrupted',
  message: `the service stopped ${ATTEMPTS} times while processing the file; simplify it or split it, and upload it again`,
} as const;

const inProcess = openSharedProcess();

/**
 * Waits until the files may start: a file with one attempt left runs alone in the process. Returns a function to call
 * once at the end, or undefined if the signal is aborted first.
 */
export function enterProcess(
  files: readonly { attempts: number }[],
  signal: AbortSignal,
): Promise<(() => void) | undefined> {
  const isAlone = files.some((file) => file.attempts >= ATTEMPTS - 1 && !hasNoAttemptsLeft(file));
  return inProcess.enter(isAlone, signal);
}

export function hasNoAttemptsLeft({ attempts }: { attempts: number }): boolean {
  return attempts >= ATTEMPTS;
}

/**
 * Groups files that start together. A file that was in work when the service ended starts alone, to identify the file
 * that ends it.
 */
export function groupsToBegin(files: readonly PendingFile[]): PendingFile[][] {
  const groups: PendingFile[][] = [];
  let open: PendingFile[] | undefined;
  for (const file of files) {
    const isSuspect = file.attempts > 0;
    if (isSuspect || !open || open.length >= BEGUN_TOGETHER) groups.push((open = []));
    open.push(file);
    if (isSuspect) open = undefined;
  }
  return groups;
}

/** Counts an attempt of each file before the file is read. */
export async function countAttempt(query: Query, job: ClaimedJob, file_nos: readonly number[]): Promise<void> {
  await query(sql`
    update upload_files set attempts = attempts + 1, begun_by = (
      select j.worker_id from jobs j where j.wiki_id = ${job.wiki_id} and j.job_id = ${job.job_id})
    where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and file_no = any (${file_nos}::int[])`);
}

/**
 * Reverts attempts counted by workers that are still alive: the service did not end, but the database was unavailable
 * when they would have reverted the attempts.
 */
export async function takeBackInterrupted(query: Query, job: ClaimedJob): Promise<void> {
  await query(sql`
    update upload_files f set attempts = greatest(attempts - 1, 0), begun_by = null
    where f.wiki_id = ${job.wiki_id} and f.upload_id = ${job.upload_id} and f.begun_by is not null
      and exists (select from workers w where w.worker_id = f.begun_by and w.alive_until > now())`);
}

/** Reverts the attempts of files that are still pending, after an orderly stop or an error. Idempotent. */
export async function takeBackAttempts(query: Query, job: ClaimedJob, file_nos: readonly number[]): Promise<void> {
  if (file_nos.length === 0) return;
  await query(sql`
    update upload_files f set attempts = greatest(attempts - 1, 0), begun_by = null
    where f.wiki_id = ${job.wiki_id} and f.upload_id = ${job.upload_id} and f.file_no = any (${file_nos}::int[])
      and f.begun_by is not null and (f.status = 'pending' or exists (
        select from upload_files s
        where s.wiki_id = f.wiki_id and s.upload_id = f.upload_id and s.section_of = f.file_no and s.status = 'pending'))
      and exists (
        select from jobs j where j.wiki_id = f.wiki_id and j.job_id = ${job.job_id} and j.attempt = ${job.attempt}
          and j.status = 'running')`);
}

/**
 * Reverts attempts as soon as a stop begins: if the process is killed before the files are done, the files did not
 * cause it. Returns a function that stops watching.
 */
export function takeBackAtStop(signal: AbortSignal, takeBack: () => Promise<void>): () => void {
  // The caller reverts again after the work has ended.
  const onStop = () => void takeBack().catch(() => undefined);
  signal.addEventListener('abort', onStop, { once: true });
  return () => signal.removeEventListener('abort', onStop);
}

/** Gives up unwritten sections of documents that ran out of attempts. */
export async function giveUpSections(query: Query, job: ClaimedJob): Promise<void> {
  await query(sql`
    update upload_files s set status = 'failed', error = ${`${INTERRUPTED.code}: ${INTERRUPTED.message}`}
    from upload_files f
    where f.wiki_id = ${job.wiki_id} and f.upload_id = ${job.upload_id} and f.attempts >= ${ATTEMPTS}
      and s.wiki_id = f.wiki_id and s.upload_id = f.upload_id and s.section_of = f.file_no and s.status = 'pending'`);
}
