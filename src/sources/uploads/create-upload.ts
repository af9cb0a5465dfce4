import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { pickFields, WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { jobRecord } from '../../platform/jobs/record-queue.ts';
import { AnnouncedFiles, AnnouncedUpload, announceFiles, exampleFiles } from './announce-files.ts';
import { fileRow, newUpload } from './new-upload.ts';
import { exampleUpload, MODE, Upload, uploadColumns } from './schema.ts';

/** Checks the permission before it reads any byte, and answers when the bytes are durable. */
export const createUpload = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/uploads',
  summary: 'Upload files',
  description:
    'Each multipart field with a file name is a file; the name may include folders ("guide/setup.md"). A job makes sources and pages from the files. The charset of a field\'s Content-Type, or the field `encoding` for all files, sets the encoding of texts that are not UTF-8 and do not declare one; for a ZIP, it applies to the texts in it. Announce large files first, at `/uploads/announce`, so that they can resume after a broken connection.',
  access: onWiki('uploads:create'),
  event: 'upload.created',
  limit: 'uploads',
  params: WikiParams,
  query: Type.Object({
    mode: Type.Optional(
      Type.Enum(['add', 'sync'], {
        description: MODE,
      }),
    ),
  }),
  consumes: 'multipart',
  body: AnnouncedFiles,
  status: 201,
  reply: Type.Union([Upload, AnnouncedUpload]),
  form: {
    reply: Upload,
    fields: {
      mode: Type.Enum(['add', 'sync'], { description: 'Same as the query parameter.' }),
      encoding: Type.String({ description: 'A name of the Encoding Standard, such as shift_jis.' }),
    },
  },
  errors: ['quota_exceeded', 'invalid_request', 'payload_too_large', 'unsupported_media_type', 'storage_unavailable'],
  example: {
    body: exampleFiles,
    reply: {
      ...exampleUpload,
      finished_at: undefined,
      status: 'queued',
      status_label: 'running',
      source_count: 0,
      summary: '',
    },
  },
  run: async (context) => {
    const { params, query, body, files, fields, one, later, refuse } = context;
    if (files.length === 0) return announceFiles(params.wiki_id, body, query.mode, context);
    const mode = query.mode ?? fields.mode ?? 'add';
    if (mode !== 'add' && mode !== 'sync')
      return refuse(new ApiError('invalid_request', 'The mode must be "add" or "sync".'));
    const { encoding = '' } = fields;
    if (encoding !== '' && !isEncoding(encoding)) {
      return refuse(
        new ApiError('invalid_request', 'The encoding must be a name of the Encoding Standard, such as "shift_jis".'),
      );
    }
    const rows = files.map(({ filename, content_type: type, blob: { byte_size, sha256 } }, file_no) =>
      fileRow(
        {
          filename,
          content_type: withEncoding(type, encoding),
          byte_size,
          received: byte_size,
          sha256,
          expected_sha256: '',
        },
        file_no,
      ),
    );
    const { wiki_id } = params;
    const upload_id = newId('upload');
    const made = await one<Upload>({
      ...newUpload(upload_id, 'queued', rows, mode),
      job: later(jobRecord, { wiki_id, upload_id, job_id: newId('job'), kind: 'ingest' }, sql`upload`),
      result: sql`select ${uploadColumns} from upload u`,
    });
    return pickFields(Upload, made);
  },
});

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/** Adds the charset of the upload to a content type without one. */
function withEncoding(type: string, encoding: string): string {
  return encoding === '' || /charset\s*=/i.test(type) ? type : `${type.slice(0, 200)}; charset=${encoding}`;
}
