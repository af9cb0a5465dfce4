import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Id, withoutNulls } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { jobRecord } from '../../platform/jobs/record-queue.ts';
import { assembleFile } from './assemble-file.ts';
import { exampleUpload, Upload, uploadColumns } from './schema.ts';
import { closedUploadError, isOpen, isSettled, isUnsettled, type UploadFile } from './upload-file.ts';

type UnsettledFile = Pick<UploadFile, 'file_no' | 'filename' | 'byte_size' | 'received' | 'expected_sha256'>;

/**
 * Completes an upload after all bytes were sent. Assembles files that the process which received their last bytes could
 * not assemble.
 */
export const completeUpload = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/uploads/:upload_id/complete',
  summary: 'Complete an upload',
  description: 'Call this after sending the bytes of all files. A job then makes sources and pages from them.',
  access: onWiki('uploads:create'),
  event: 'upload.queued',
  params: Type.Object({ wiki_id: Id, upload_id: Id }),
  reply: Upload,
  errors: ['quota_exceeded', 'upload_state', 'checksum_mismatch', 'storage_unavailable'],
  example: {
    reply: { ...exampleUpload, finished_at: undefined, status: 'queued', status_label: 'running', source_count: 0 },
  },
  run: async (context) => {
    const { params, many, maybeOne, later } = context;
    const { wiki_id, upload_id } = params;
    const queue = async () => {
      const [upload] = await many<Upload>({
        before: sql`
          select u.upload_id, u.status, u.updated_at from uploads u join access on access.wiki_id = u.wiki_id
          where u.upload_id = ${upload_id} and ${isOpen} and ${isSettled}`,
        upload: sql`
          update uploads u set status = 'queued', updated_at = now() from before
          where u.wiki_id = ${wiki_id} and u.upload_id = before.upload_id and u.status = 'uploading'
          returning u.*`,
        job: later(jobRecord, { wiki_id, upload_id, job_id: newId('job'), kind: 'ingest' }, sql`upload`),
        after: raw('select upload_id, status, updated_at from upload'),
        result: sql`select ${uploadColumns} from upload u`,
      });
      return upload && withoutNulls(upload);
    };
    const queued = await queue();
    if (queued) return queued;

    const upload = await maybeOne<Pick<UploadFile, 'is_open' | 'upload_error'>>(sql`
      select ${isOpen} as is_open, u.error as upload_error from uploads u
      where u.wiki_id = ${wiki_id} and u.upload_id = ${upload_id}`);
    if (!upload) throw notFound();
    if (!upload.is_open) throw closedUploadError(upload);
    // `many` would write an audit record here, because this endpoint writes.
    const files = await maybeOne<{ files: UnsettledFile[] }>(sql`
      select coalesce(jsonb_agg(to_jsonb(g) order by g.file_no), '[]') as files from (
        select f.file_no, f.filename, f.byte_size, f.received, f.promised_sha256 as expected_sha256 from upload_files f
        where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and ${isUnsettled}) g`);
    for (const file of files?.files ?? []) {
      const { filename, received, byte_size } = file;
      if (received < byte_size) {
        const text = `Bytes are missing: "${filename.slice(0, 100)}" has ${received} of ${byte_size}.`;
        throw new ApiError('upload_state', text);
      }
      await assembleFile(context, file);
    }
    const settled = await queue();
    if (!settled) throw new ApiError('upload_state', 'The upload changed during the request. Get it again and retry.');
    return settled;
  },
});
