import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { Id, withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { cancelJobs, failFiles, failUpload } from '../../platform/jobs/cancel-ctes.ts';
import { exampleUpload, Upload, uploadColumns } from './schema.ts';

/** Attempts to cancel an upload that receives bytes or is completed concurrently. */
const ATTEMPTS = 20;

/** Pages that the upload has already made stay. A worker that runs its job loses the job at its next write. */
export const cancelUpload = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/uploads/:upload_id/cancel',
  summary: 'Cancel an upload',
  description: 'The upload accepts no more bytes, and its job stops. Pages already made from it stay.',
  access: onWiki('uploads:create'),
  whenUnpaid: true,
  event: 'upload.cancelled',
  params: Type.Object({ wiki_id: Id, upload_id: Id }),
  reply: Upload,
  errors: ['upload_state'],
  example: {
    reply: { ...exampleUpload, status: 'failed', status_label: 'failed', error: 'cancelled: the upload was cancelled' },
  },
  run: async ({ params, many, maybeOne }) => {
    const { wiki_id, upload_id } = params;
    const ofUpload = sql`u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id}`;
    const cancel = () =>
      many<Upload>({
        before: sql`
          select u.upload_id, u.status, u.error, u.source_count, u.finished_at, u.updated_at
          from uploads u join access on access.wiki_id = u.wiki_id where ${ofUpload} and u.finished_at is null`,
        stopped: cancelJobs(sql`before`, sql`j.upload_id = before.upload_id and j.wiki_id = ${wiki_id}`),
        // If a concurrent request completed the upload or added bytes, its job or parts are invisible to this
        // statement: retry.
        upload: failUpload(
          wiki_id,
          sql`before`,
          sql`select count(*) from stopped`,
          sql`(f.status <> 'uploading' or (u.status, u.updated_at) = (f.status, f.updated_at))`,
        ),
        files: failFiles(wiki_id),
        parts: sql`
          delete from upload_parts p using upload u where p.wiki_id = u.wiki_id and p.upload_id = u.upload_id`,
        after: sql`select u.upload_id, u.status, u.error, u.source_count, u.finished_at, u.updated_at from upload u`,
        result: sql`select ${uploadColumns} from upload u`,
      });
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const [cancelled] = await cancel();
      if (cancelled) return withoutNulls(cancelled);
      const now = await maybeOne<{ has_ended: boolean }>(sql`
        select u.finished_at is not null as has_ended from uploads u where ${ofUpload}`);
      if (!now) throw notFound();
      if (now.has_ended) throw new ApiError('upload_state', 'The upload has already ended.');
    }
    throw new ApiError(
      'upload_state',
      'The upload is receiving bytes too often to be cancelled. Try again in a moment.',
    );
  },
});
