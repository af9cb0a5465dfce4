import { onWiki } from '../../platform/access/access-rule.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { AnnouncedFiles, AnnouncedUpload, announceFiles, exampleFiles } from './announce-files.ts';
import { exampleUpload, MODE } from './schema.ts';

/**
 * The JSON form of `POST …/uploads`, at a separate path because an operation in openapi.json has a single media type.
 */
export const announceUpload = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/uploads/announce',
  summary: 'Announce an upload',
  description: `Their bytes come by tus 1.0 (https://tus.io) to each \`upload_url\`, in any number of requests, and then the upload is completed. The same body is accepted at \`POST /v1/wikis/{wiki_id}/uploads\`. Of \`mode\`, ${MODE}`,
  access: onWiki('uploads:create'),
  event: 'upload.created',
  limit: 'uploads',
  params: WikiParams,
  body: AnnouncedFiles,
  status: 201,
  reply: AnnouncedUpload,
  errors: ['quota_exceeded', 'invalid_request', 'payload_too_large', 'storage_unavailable'],
  example: {
    body: exampleFiles,
    reply: {
      upload: {
        ...exampleUpload,
        finished_at: undefined,
        status: 'uploading',
        status_label: 'running',
        source_count: 0,
        summary: '',
      },
      files: [
        {
          file_id: 'file_01jd8w3v6xf3e8h2k9m4n5p6y1',
          filename: 'guide/setup.md',
          upload_url: `https://wiki.example.com/v1/wikis/${exampleUpload.wiki_id}/uploads/${exampleUpload.upload_id}/files/file_01jd8w3v6xf3e8h2k9m4n5p6y1`,
        },
      ],
    },
  },
  run: (context) => announceFiles(context.params.wiki_id, context.body, undefined, context),
});
