import type { Db, Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { type ClaimedJob, defineRecordJob } from '../../platform/jobs/define-job.ts';
import { advanceJob, endJob, lockJob } from '../../platform/jobs/record-queue.ts';
import type { Sandbox } from '../../platform/sandbox/sandbox.ts';
import { compiledAhead } from './compile-ahead.ts';
import { fileCompiler } from './compile-upload-file.ts';
import type { CompiledUploadFile, PendingFile } from './compiled-upload.ts';
import { endUpload } from './ending/end-upload.ts';
import {
  countAttempt,
  enterProcess,
  giveUpSections,
  groupsToBegin,
  hasNoAttemptsLeft,
  takeBackAtStop,
  takeBackAttempts,
  takeBackInterrupted,
} from './file-attempts.ts';
import { holdFolders } from './held-folders.ts';
import { mergeEdits } from './merge-edits.ts';
import { readOrder } from './order-files.ts';
import { markOrphanedSections } from './orphaned-sections.ts';
import { openSectionPlans } from './plan-sections.ts';
import { planUpload } from './plan-upload.ts';
import { readAliases } from './surroundings/aliases-of-texts.ts';
import { findAttachedFiles, leftOut } from './surroundings/attached-files.ts';
import { type KnownFiles, openFilesAround } from './surroundings/files-around.ts';
import { knownTitles } from './surroundings/known-titles.ts';
import { markGone, NONE_GONE, noteReturnedFolders } from './sync-folder.ts';
import { skipUnchanged } from './unchanged-files.ts';
import { unpackArchives } from './unpacking/unpack-archives.ts';
import { insertSections, writeFiles } from './write-files.ts';
import { EditedMeanwhileError } from './write-pages.ts';

/**
 * Limits of a batch, which is one transaction: pages and characters of Markdown. Large enough to be fast, small enough
 * that a crash loses little work and that requests do not wait long for the commit.
 */
const BATCH_FILES = 100;
const BATCH_LENGTH = 2 ** 18;

/** Merge attempts per batch. After the last one, concurrent edits count as conflicts. */
const MERGES = 10;

/**
 * Turns the files of an upload into sources and pages. Each batch is one transaction that also marks its files as done,
 * so that the next attempt after a crash resumes after it and creates nothing twice.
 */
export const ingestJob = defineRecordJob({
  name: 'ingest',
  lane: 'uploads',
  attempts: 5,
  async run({ db, job, services, signal }) {
    await takeBackInterrupted(db.query, job);
    if (!(await unpackArchives(services, db, job, signal))) return;
    await findAttachedFiles(services.blobs, db, job);
    const { given, ignored } = await readOrder(services.blobs, db, job);
    const planned = await db.transaction(async (query) => {
      await lockJob(query, job);
      return planUpload(query, job, given);
    });
    const upload = { wiki_id: job.wiki_id, upload_id: job.upload_id ?? '' };
    const around = await openFilesAround(db.query, upload, planned, await siteRoot(db.query, job));
    await skipUnchanged(db, job, around);
    const plans = await openSectionPlans(db.query, upload);
    await giveUpSections(db.query, job);
    const pending = await pendingFiles(db.query, job);
    if (pending.length > 0) around.addNames(await readAliases(services.blobs, db.query, job, planned));
    const titles = await knownTitles(
      { query: db.query, blobs: services.blobs, stopping: signal },
      upload,
      pending,
      around,
    );
    const compile = fileCompiler(services, db.query, upload, { around, titles, plans, stopping: signal });
    const write = (batch: readonly CompiledUploadFile[]) => mergeAndWrite(db, services.sandbox, job, around, batch);
    const folders = holdFolders();
    const begun: number[] = [];
    const takeBack = () => takeBackAttempts(db.query, job, begun);
    const unwatch = takeBackAtStop(signal, takeBack);
    try {
      for (const group of groupsToBegin(pending)) {
        const leave = await enterProcess(group, signal);
        if (!leave) break;
        try {
          const file_nos = group.filter((file) => !hasNoAttemptsLeft(file)).map(({ file_no }) => file_no);
          await countAttempt(db.query, job, file_nos);
          begun.push(...file_nos);
          await writeInBatches(folders.release(compiledAhead(group, compile, signal)), write, signal);
        } finally {
          leave();
        }
      }
    } finally {
      unwatch();
      await takeBack().catch((err: unknown) =>
        services.log.warn({ err, job_id: job.job_id }, 'cannot reset the attempts of unfinished files'),
      );
    }
    // Batches that were started are written; the next attempt does the rest.
    if (signal.aborted) return;
    await write([...folders.empty(), ...(await leftOut(db, job, compile))]);
    await db.transaction((query) => finish(query, job, '', ignored));
  },
  onFailure: finish,
});

async function siteRoot(query: Query, { wiki_id }: ClaimedJob): Promise<string | null> {
  const [wiki] = await query<{ site_root: string | null }>(sql`select site_root from wikis where wiki_id = ${wiki_id}`);
  return wiki?.site_root ?? null;
}

/** Compiles the next batch while one is written. Batches that were started are written when it returns. */
async function writeInBatches(
  compiled: AsyncIterable<readonly CompiledUploadFile[]>,
  write: (batch: readonly CompiledUploadFile[]) => Promise<void>,
  stopping: AbortSignal,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  for await (const batch of batchesOf(compiled)) {
    await writing;
    if (stopping.aborted) return;
    writing = write(batch);
    // A rejection is thrown where the batch is awaited; until then, keep it from being an unhandled rejection.
    writing.catch(() => undefined);
  }
  await writing;
}

/** Merges a batch with concurrent edits and writes it. Retries if a page was edited during the merge. */
async function mergeAndWrite(
  db: Db,
  sandbox: Sandbox,
  job: ClaimedJob,
  around: KnownFiles,
  compiled: readonly CompiledUploadFile[],
): Promise<void> {
  const { wiki_id } = job;
  const upload_id = job.upload_id ?? '';
  for (let left = MERGES - 1; ; left -= 1) {
    // Outside the transaction, because it renders pages.
    const of = await mergeEdits({ query: db.query, sandbox, wiki_id, upload_id }, around.known().pages, compiled);
    try {
      return await db.transaction(async (query) => {
        await insertSections(query, { wiki_id, upload_id }, compiled);
        const { creator, progress } = await readProgress(query, job, compiled.length);
        await advanceJob(query, job, progress);
        await writeFiles(query, { wiki_id, upload_id, creator }, compiled, { of, isLast: left === 0 }, around.known());
      });
    } catch (error) {
      if (!(error instanceof EditedMeanwhileError)) throw error;
    }
  }
}

function pendingFiles(query: Query, job: ClaimedJob): Promise<PendingFile[]> {
  // Parents first: a page is written after its parent. A divided file is read again as long as some of its sections are
  // pending. Files that may have ended the service come last.
  return query<PendingFile>(sql`
    select file_no, kind, status, filename, content_type, byte_size, sha256, page_path, page_id, section_of, attempts, renamed_from, position
    from upload_files f
    where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and kind in ('file', 'folder') and not is_attachment and (status = 'pending' or exists (
      select from upload_files s
      where s.wiki_id = f.wiki_id and s.upload_id = f.upload_id and s.section_of = f.file_no and s.status = 'pending'))
    order by length(page_path) - length(replace(page_path, '/', '')), attempts, coalesce(position, file_no)`);
}

/** Groups pages into batches. A divided document yields many pages, with parents before children. */
async function* batchesOf(all: AsyncIterable<readonly CompiledUploadFile[]>): AsyncGenerator<CompiledUploadFile[]> {
  let batch: CompiledUploadFile[] = [];
  let length = 0;
  for await (const pages of all) {
    for (const each of pages) {
      batch.push(each);
      length += each.page?.markdown.length ?? 0;
      if (batch.length < BATCH_FILES && length <= BATCH_LENGTH) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

async function readProgress(
  query: Query,
  job: ClaimedJob,
  more: number,
): Promise<{ creator: string; progress: number }> {
  const [row] = await query<{ creator: string; done: number; files: number }>(sql`
    select u.created_by as creator, count(*)::int as files, count(*) filter (where f.status <> 'pending')::int as done
    from uploads u join upload_files f on f.wiki_id = u.wiki_id and f.upload_id = u.upload_id
    where u.wiki_id = ${job.wiki_id} and u.upload_id = ${job.upload_id} group by u.created_by`);
  if (!row) throw new Error('an ingest job has no upload');
  return { creator: row.creator, progress: Math.floor((100 * (row.done + more)) / row.files) };
}

async function finish(query: Query, job: ClaimedJob, error: string, ignored: readonly string[] = []): Promise<void> {
  // Lock the job's row before the upload's, in the same order as `cancel`.
  await lockJob(query, job);
  const upload = { wiki_id: job.wiki_id, upload_id: job.upload_id ?? '' };
  const lost = await markOrphanedSections(query, upload);
  await noteReturnedFolders(query, upload);
  const gone = error === '' ? await markGone(query, upload) : NONE_GONE;
  const end = await endUpload(query, upload, error, { lost_sections: lost, gone, ignored });
  await endJob(query, job, end);
}
