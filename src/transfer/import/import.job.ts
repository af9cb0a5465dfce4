import type { Query } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { type ClaimedJob, defineRecordJob } from '../../jobs/define-job.ts';
import { endJob, lockJob, showProgress } from '../../jobs/record-queue.ts';
import { pageMeant } from '../../pages/write-text.ts';
import type { Blobs } from '../../providers/storage/blobs.ts';
import { MANIFEST_FILE } from '../export/archive-format.ts';
import { recordEnd } from '../export/export.job.ts';
import { ArchiveError } from './archive-error.ts';
import type { ImportContext } from './import-context.ts';
import { importFolder } from './import-folder.ts';
import { importWiki, refuseUnlessAlone } from './import-wiki.ts';
import { type Archive, openArchive } from './open-archive.ts';

/** Entries of an archive at most, and their unpacked size as a multiple of that of an upload. */
const ENTRIES_MAX = 500_000;
const UNPACKED = 10;

/**
 * Makes pages of an archive, in one transaction: others see all of it or nothing, and after a
 * crash the next attempt starts over with nothing in the way.
 */
export const importJob = defineRecordJob({
  name: 'import',
  lane: 'uploads',
  attempts: 5,
  async run({ db, job, services: { blobs, sandbox, limits }, signal }) {
    let reached = 0;
    const onProgress = async (part: number) => {
      if (signal.aborted) throw new Stopped();
      const progress = Math.min(99, Math.floor(100 * part));
      if (progress === reached) return;
      reached = progress;
      // On a connection of its own: what the import writes is not to be seen yet.
      await db.transaction((query) => showProgress(query, job, progress));
    };
    let archive: Archive | undefined;
    try {
      const opened = (archive = await openOf(db.query, job, blobs, UNPACKED * limits.upload_bytes));
      await db.transaction(async (query) => {
        const stand = await begin(query, job);
        const context = {
          ...stand,
          query,
          wiki_id: job.wiki_id,
          archive: opened,
          blobs,
          sandbox,
          limits,
          onProgress,
        };
        await importAll(context, job);
      });
    } catch (error) {
      if (error instanceof Stopped) return;
      if (!(error instanceof ArchiveError)) throw error;
      await db.transaction((query) => fail(query, job, `${error.code}: ${error.message}`));
    } finally {
      archive?.close();
    }
  },
  onFailure: fail,
});

async function openOf(query: Query, job: ClaimedJob, blobs: Blobs, bytes: number): Promise<Archive> {
  const [row] = await query<{ sha256: string }>(sql`
    select sha256 from imports where wiki_id = ${job.wiki_id} and import_id = ${job.job_id}`);
  if (!row) throw new Error('an import job has no archive');
  return openArchive(await blobs.stream(row.sha256), { entries: ENTRIES_MAX, bytes });
}

/** The process is to stop: the job is put back. */
class Stopped extends Error {}

async function importAll(context: ImportContext, job: ClaimedJob): Promise<void> {
  const { query, wiki_id, archive } = context;
  const found = archive.has(MANIFEST_FILE) ? await importWiki(context) : { summary: await importFolder(context) };
  // The job first and then the wiki, as every other write that needs both.
  await lockJob(query, job);
  await query(sql`select from wikis where wiki_id = ${wiki_id} for no key update`);
  if ('pages' in found) await refuseUnlessAlone(context, found.pages);
  // Links to pages that were not there when they were written, by path or as [[Title]].
  await query(sql`
    update page_links l set to_page_id = m.page_id
    from (
      select l.from_page_id, l.to_path, ${pageMeant(wiki_id)} as page_id
      from (
        select from_page_id, to_path, wanted_title, coalesce(wanted_path, to_path) as path from page_links
        where wiki_id = ${wiki_id} and to_page_id is null offset 0) l offset 0) m
    where l.wiki_id = ${wiki_id} and l.from_page_id = m.from_page_id and l.to_path = m.to_path and m.page_id is not null`);
  const { summary } = found;
  await endJob(query, job, { status: 'completed', summary, error: '' });
  await recordEnd(query, job, 'completed', { summary });
}

/** Who imports and when. The transaction lasts as long as the import, of which the database is told here. */
async function begin(query: Query, job: ClaimedJob): Promise<{ creator: string; now: string }> {
  const [row] = await query<{ creator: string; now: string }>(sql`
    select created_by as creator, now() as now, set_config('statement_timeout', '0', true),
      set_config('idle_in_transaction_session_timeout', '0', true)
    from imports where wiki_id = ${job.wiki_id} and import_id = ${job.job_id}`);
  if (!row) throw new Error('an import job has no archive');
  return row;
}

async function fail(query: Query, job: ClaimedJob, error: string): Promise<void> {
  await endJob(query, job, { status: 'failed', summary: '', error });
  await recordEnd(query, job, 'failed', { error });
}
