import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Id, withoutNulls } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { jobRecord } from '../../platform/jobs/record-queue.ts';
import { exampleUpload, Upload, uploadColumns } from './schema.ts';
import { isSettled } from './upload-file.ts';

/**
 * Enqueues a new job for the files that are not done. If another upload ran in the meantime, all files are processed
 * again, because it may have written the same pages.
 */
export const retryUpload = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/uploads/:upload_id/retry',
  summary: 'Retry an upload',
  description:
    'Processes a failed upload again if it has all its bytes. Only the failed files are processed, or all files if another upload was processed in the meantime.',
  access: onWiki('uploads:create'),
  event: 'upload.retried',
  params: Type.Object({ wiki_id: Id, upload_id: Id }),
  reply: Upload,
  errors: ['quota_exceeded', 'upload_state'],
  example: {
    reply: { ...exampleUpload, finished_at: undefined, status: 'queued', status_label: 'running', summary: '' },
  },
  run: ({ params, transaction, later }) =>
    // Hold the wiki lock, as the job does that gives up the bytes of failed uploads, so that the bytes exist until the
    // commit.
    transaction(async ({ many, maybeOne }) => {
      const { wiki_id, upload_id } = params;
      const ofUpload = sql`u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id}`;
      const [queued] = await many<Upload>({
        before: sql`
          select u.upload_id, u.status, u.summary, u.error, u.updated_at, to_jsonb(u.finished_at) as finished_at
          from uploads u join access on access.wiki_id = u.wiki_id
          where ${ofUpload} and u.status = 'failed' and ${isSettled}`,
        upload: sql`
          update uploads u set status = 'queued', summary = '', error = '', updated_at = now(), finished_at = null
          from before where ${ofUpload} and u.upload_id = before.upload_id and u.status = 'failed'
          returning u.*`,
        // Folders and sections of failed files; they are planned again.
        outdated: sql`
          select f.file_no from upload u join upload_files f on f.wiki_id = u.wiki_id and f.upload_id = u.upload_id
          where f.status <> 'done' and (f.kind = 'folder' or exists (
            select from upload_files o
            where o.wiki_id = f.wiki_id and o.upload_id = f.upload_id and o.file_no = f.section_of and o.status = 'failed'))`,
        other: sql`
          select from upload u cross join lateral (
            select o.planned_at from uploads o where o.wiki_id = u.wiki_id order by o.planned_at desc nulls last limit 1) o
          where o.planned_at > u.planned_at`,
        files: sql`
          update upload_files f set status = 'pending', error = '',
            page_path = case f.kind when 'file' then '' else f.page_path end
          from upload u
          where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.file_no not in (select file_no from outdated)
            and (f.status = 'failed' or f.status = 'done' and f.kind in ('file', 'section') and not f.is_attachment
              and exists (select from other))`,
        replanned: sql`
          delete from upload_files f using upload u, outdated d
          where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and f.file_no = d.file_no`,
        job: later(jobRecord, { wiki_id, upload_id, job_id: newId('job'), kind: 'ingest' }, sql`upload`),
        // The retried upload has no end time.
        after: raw(`select upload_id, status, summary, error, updated_at, '""'::jsonb as finished_at from upload`),
        result: sql`select ${uploadColumns} from upload u`,
      });
      if (queued) {
        return withoutNulls(queued);
      }
      const upload = await maybeOne<{ status: string }>(sql`select u.status from uploads u where ${ofUpload}`);
      if (!upload) throw notFound();
      throw new ApiError(
        'upload_state',
        upload.status === 'failed'
          ? 'Bytes of this upload are missing, so it cannot be processed. Create a new upload.'
          : 'Only a failed upload can be retried.',
      );
    }),
});
