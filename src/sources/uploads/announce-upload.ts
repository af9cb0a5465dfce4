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
  description: `Send the bytes of each file to its \`upload_url\` with tus 1.0 (https://tus.io), in any number of requests, then complete the upload. \`POST /v1/wikis/{wiki_id}/uploads\` accepts the same body. Values of \`mode\`: ${MODE}`,
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
