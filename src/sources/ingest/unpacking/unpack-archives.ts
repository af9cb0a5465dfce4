import { buffer } from 'node:stream/consumers';
import { isZip } from '@ibid/documents/formats/file-type.ts';
import { archiveTooLarge, BYTES_MAX, FILES_MAX, type LeftOut } from '@ibid/documents/formats/zip/unpack.ts';
import type { Db, Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { ClaimedJob } from '../../../platform/jobs/define-job.ts';
import { lockJob } from '../../../platform/jobs/record-queue.ts';
import type { CompilingNeeds } from '../compile-upload-file.ts';
import {
  countAttempt,
  enterProcess,
  hasNoAttemptsLeft,
  INTERRUPTED,
  takeBackAtStop,
  takeBackAttempts,
} from '../file-attempts.ts';
import { type PackedRow, readArchive } from './read-archive.ts';

interface Candidate {
  file_no: number;
  filename: string;
  byte_size: number;
  sha256: string;
  attempts: number;
}

/**
 * Adds the files of an upload's ZIP archives to the upload, in the archive's folder, as if they had been uploaded. Each
 * archive is written in one transaction, before any page is planned. An archive that contains only archives, like a
 * Notion export, is replaced by the files of these; any other nested archive stays packed and fails. Returns false if
 * the signal was aborted first.
 */
export async function unpackArchives(
  { blobs, reader }: Pick<CompilingNeeds, 'blobs' | 'reader'>,
  db: Pick<Db, 'query' | 'transaction'>,
  job: ClaimedJob,
  signal: AbortSignal,
): Promise<boolean> {
  for (const archive of await candidates(db.query, job)) {
    // All ZIP-based files start alike; skipping document extensions only saves a look into each.
    if (/\.(?:do[ct][xm]|xl[st][xm]|p[po][ts][xm]|od[tsp]|epub)$/i.test(archive.filename)) continue;
    try {
      if (!(await isPacked(archive))) continue;
      if (hasNoAttemptsLeft(archive)) {
        await fail(archive.file_no, `${INTERRUPTED.code}: ${INTERRUPTED.message}`);
        continue;
      }
      const leave = await enterProcess([archive], signal);
      if (!leave) return false;
      try {
        await unpackCounted(archive);
      } finally {
        leave();
      }
    } catch (error) {
      // Compilation reports missing bytes.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return true;

  async function unpackCounted(archive: Candidate): Promise<void> {
    await countAttempt(db.query, job, [archive.file_no]);
    const takeBack = () => takeBackAttempts(db.query, job, [archive.file_no]);
    const unwatch = takeBackAtStop(signal, takeBack);
    try {
      await unpackArchive(archive);
    } finally {
      unwatch();
      await takeBack();
    }
  }

  async function isPacked({ sha256 }: Candidate): Promise<boolean> {
    const start = await buffer(await blobs.stream(sha256, { start: 0, end: 7 }));
    return isZip(start);
  }

  async function unpackArchive({ file_no, filename, byte_size, sha256 }: Candidate): Promise<void> {
    const folder = filename.slice(0, filename.lastIndexOf('/') + 1);
    const opened = await readArchive({ blobs, reader, upload_id: job.upload_id ?? '' }, { byte_size, sha256 }, folder);
    if (opened.is === 'document') return;
    if (opened.is === 'broken') return fail(file_no, `${opened.code}: ${opened.message}`);
    const { rows, left_out } = opened;
    if (rows.length === 0)
      return fail(file_no, 'empty_file: the archive contains no files; add files and upload it again');
    const bytes = rows.reduce((sum, row) => sum + row.byte_size, 0);
    if (rows.length > FILES_MAX || bytes > BYTES_MAX) return fail(file_no, `too_large: ${archiveTooLarge().message}`);
    await db.transaction((query) => insertRows(query, file_no, rows, leftOut(left_out)));
  }

  async function fail(file_no: number, error: string): Promise<void> {
    await db.transaction(async (query) => {
      await lockJob(query, job);
      await query(sql`
        update upload_files set status = 'failed', error = ${error}
        where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and file_no = ${file_no}`);
    });
  }

  async function insertRows(query: Query, file_no: number, rows: readonly PackedRow[], note: string): Promise<void> {
    await lockJob(query, job);
    await query(sql`
      with archive as (
        update upload_files set kind = 'archive', status = 'done', error = ${note}
        where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id} and file_no = ${file_no}
      )
      insert into upload_files (wiki_id, upload_id, file_no, filename, content_type, byte_size, sha256, status, error)
      select ${job.wiki_id}, ${job.upload_id}, last.file_no + g.n, g.filename, last.type, g.byte_size, g.sha256, g.status, g.error
      from (
          select max(file_no) as file_no,
            -- The encoding that the archive was announced with is that of the texts in it.
            coalesce('text/plain' || max(substring(content_type from ';.*charset=.*')) filter (where file_no = ${file_no}), '') as type
          from upload_files where wiki_id = ${job.wiki_id} and upload_id = ${job.upload_id}
        ) last,
        rows from (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as (filename text, byte_size bigint, sha256 text, status text, error text))
          with ordinality as g (filename, byte_size, sha256, status, error, n)`);
  }
}

/** Formats a note for the summary about entries that were not taken; "" if all were. */
function leftOut({ hidden, symbolic_links, names }: LeftOut): string {
  const parts = [
    hidden > 0 && `${hidden} hidden ${hidden === 1 ? 'file' : 'files'}`,
    symbolic_links > 0 && `${symbolic_links} symbolic ${symbolic_links === 1 ? 'link' : 'links'}`,
  ].filter(Boolean);
  if (parts.length === 0) return '';
  const more = hidden + symbolic_links > names.length ? ', …' : '';
  // Strip control characters: names are untrusted, and PostgreSQL stores no NUL.
  const shown = names.map((name) => name.replace(/\p{Cc}/gu, '')).join(', ');
  return `left_out: ${parts.join(' and ')} left out (${shown}${more})`;
}

/** Selects the files that are not planned yet. */
function candidates(query: Query, { wiki_id, upload_id }: ClaimedJob): Promise<Candidate[]> {
  return query<Candidate>(sql`
    select file_no, filename, byte_size, sha256, attempts from upload_files
    where wiki_id = ${wiki_id} and upload_id = ${upload_id} and kind = 'file' and status = 'pending' and page_path = ''
      and byte_size >= 22
    order by file_no`);
}
