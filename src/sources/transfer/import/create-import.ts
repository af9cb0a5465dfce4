import { buffer } from 'node:stream/consumers';
import { cleanFilename } from '@ibid/documents/filename.ts';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import { WikiParams, withoutNulls } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { jobRecord } from '../../../platform/jobs/record-queue.ts';
import { Job, jobColumns } from '../../../platform/jobs/schema.ts';
import type { Blobs } from '../../../platform/providers/storage/blobs.ts';
import { MANIFEST_FILE } from '../export/archive-format.ts';
import { queuedJob } from '../export/create-export.ts';
import { notEmpty } from './publish-import.ts';

export const createImport = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/imports',
  summary: 'Import an archive',
  description:
    'Send one ZIP as a multipart field with a file name. An archive made by an export restores its pages, ' +
    'history and attachments in an empty wiki. From any other ZIP, Markdown, text and HTML files become pages, folders become the tree, links ' +
    'between files become links between pages, and referenced images become attachments. Returns the import job, which imports everything or, ' +
    'if that fails, nothing.',
  access: onWiki('pages:write'),
  canWait: true,
  event: 'import.created',
  limit: 'uploads',
  params: WikiParams,
  consumes: 'multipart',
  form: { file: 'archive' },
  status: 201,
  reply: Job,
  errors: [
    'quota_exceeded',
    'invalid_request',
    'conflict',
    'payload_too_large',
    'unsupported_media_type',
    'storage_unavailable',
  ],
  example: { reply: queuedJob('import') },
  run: async ({ params: { wiki_id }, files, services, one, maybeOne, later }) => {
    const [file] = files;
    if (!file) throw new Error('multipart bodies without a file must be rejected earlier');
    const { sha256, byte_size } = file.blob;
    const job_id = newId('job');
    if (await isOfWiki(services.blobs, sha256)) {
      // Reject at once if possible; the job checks again under the lock of the wiki.
      const wiki = await maybeOne<{ pages: number }>(sql`select page_count(a.wiki_id) as pages from access a`);
      if (wiki && wiki.pages > 0) throw new ApiError('conflict', notEmpty().message);
    }
    const made = await one<Job>({
      j: later(jobRecord, { wiki_id, job_id, upload_id: null, kind: 'import' }),
      import: sql`
        insert into imports (wiki_id, import_id, created_by, filename, sha256, byte_size)
        select a.wiki_id, ${job_id}, a.user_id, ${cleanFilename(file.filename)}, ${sha256}, ${byte_size} from access a`,
      result: sql`select ${jobColumns} from j`,
    });
    return withoutNulls(made);
  },
});

/** Whether the first file of a ZIP is the manifest of an export. In a repacked archive it may come later. */
async function isOfWiki(blobs: Blobs, sha256: string): Promise<boolean> {
  const end = 30 + MANIFEST_FILE.length - 1;
  const start = await buffer(await blobs.stream(sha256, { start: 0, end }));
  return start.subarray(0, 4).toString('latin1') === 'PK\x03\x04' && start.subarray(30).toString() === MANIFEST_FILE;
}
