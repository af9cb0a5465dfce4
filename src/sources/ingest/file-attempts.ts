import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { openSharedProcess } from '../../platform/jobs/alone.ts';
import type { ClaimedJob } from '../../platform/jobs/define-job.ts';
import type { PendingFile } from './compiled-upload.ts';

/**
 * A file that was being worked on when the service ended this often is not tried again. The last of these attempts is made alone in
 * its process, so that no file fails for what ran beside it.
 */
const ATTEMPTS = 3;

/** Files that are begun together: one statement for all of them, and all are suspected if the service ends meanwhile. */
const BEGUN_TOGETHER = 200;

export const INTERRUPTED = {
  ok: false,
  code: 'interrupted',
  message: `the service ended ${ATTEMPTS} times while it worked on the file; simplify it or split it, and upload it again`,
} as const;

/** The files and archives that the jobs of this process work on. */
const inProcess = openSharedProcess();

/**
 * Waits until files may be worked on: one that was in work at two deaths runs alone in the process. Returns what must be called
 * once when that is done; undefined if the signal is aborted first.
 */
export function enterProcess(
  files: readonly { attempts: number }[],
  signal: AbortSignal,
): Promise<(() => void) | undefined> {
  const isAlone = files.some((file) => file.attempts >= ATTEMPTS - 1 && !isGivenUp(file));
  return inProcess.enter(isAlone, signal);
}

export function isGivenUp({ attempts }: { attempts: number }): boolean {
  return attempts >= ATTEMPTS;
}

/**
 * The files in the groups that they are begun in: those that were being worked on when the service ended are each begun
 * alone, so that the one that ends it is found.
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

/** Counts an attempt of files, before they are read. */
export async function countAttempt(query: Query, job: ClaimedJob, file_nos: readonly number[]): Promise<void> {
  await query(sql`
    update upload_files set attempts = attempts + 1, begun_by = (
      select j.worker_id from jobs j where j.wiki_id = ${job.wiki_id} and j.job_id = ${job.job_id})
    where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and file_no = any (${file_nos}::int[])`);
}

/**
 * Takes back the attempts of workers that live: the service did not end while they worked on the files, but the database was
 * away when they would have taken them back.
 */
export async function takeBackInterrupted(query: Query, job: ClaimedJob): Promise<void> {
  await query(sql`
    update upload_files f set attempts = greatest(attempts - 1, 0), begun_by = null
    where f.wiki_id = ${job.wiki_id} and f.upload_id = ${job.upload_id} and f.begun_by is not null
      and exists (select from workers w where w.worker_id = f.begun_by and w.alive_until > now())`);
}

/**
 * Takes back the attempts of files that are still pending, on an orderly stop and after an error; once, however often it is
 * called.
 */
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
 * Takes attempts back as soon as a stop begins: the process may be killed before the files are done, and then they did not end
 * it. Returns how to stop watching.
 */
export function takeBackAtStop(signal: AbortSignal, takeBack: () => Promise<void>): () => void {
  // What fails is tried again when the work has ended.
  const onStop = () => void takeBack().catch(() => undefined);
  signal.addEventListener('abort', onStop, { once: true });
  return () => signal.removeEventListener('abort', onStop);
}

/** Gives up the sections that are not written yet of documents that are given up. */
export async function giveUpSections(query: Query, job: ClaimedJob): Promise<void> {
  await query(sql`
    update upload_files s set status = 'failed', error = ${`${INTERRUPTED.code}: ${INTERRUPTED.message}`}
    from upload_files f
    where f.wiki_id = ${job.wiki_id} and f.upload_id = ${job.upload_id} and f.attempts >= ${ATTEMPTS}
      and s.wiki_id = f.wiki_id and s.upload_id = f.upload_id and s.section_of = f.file_no and s.status = 'pending'`);
}
