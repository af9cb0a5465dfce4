import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { Id, Record } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { requireTus, TUS, TUS_RESUMABLE } from './tus.ts';
import { closedUploadError, FileParams, fileOf, type UploadFile } from './upload-file.ts';

/** By HEAD on this address, tus clients learn the offset at which to resume. */
export const getFile = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/uploads/:upload_id/files/:file_id',
  summary: 'Get a file of an upload',
  description: 'Includes the number of bytes received, also as `Upload-Offset`, which HEAD returns too (tus 1.0).',
  access: onWiki('uploads:create'),
  params: FileParams,
  requestHeaders: { 'Tus-Resumable': TUS_RESUMABLE },
  responseHeaders: TUS,
  reply: Record(
    { file_id: Id, filename: Type.String(), byte_size: Type.Integer(), received: Type.Integer() },
    { title: 'FileToReceive' },
  ),
  headers: ({ byte_size, received }) => ({ 'upload-offset': String(received), 'upload-length': String(byte_size) }),
  errors: ['upload_state', 'precondition_failed'],
  example: {
    reply: {
      file_id: 'file_01jd8w3v6xf3e8h2k9m4n5p6x1',
      filename: 'guide/setup.md',
      byte_size: 1_234,
      received: 1_000,
    },
  },
  run: async ({ params, header, maybeOne }) => {
    const file = await maybeOne<UploadFile>(fileOf(params));
    if (!file) throw notFound();
    requireTus(header, false);
    if (!file.is_open && file.upload_error !== '') throw closedUploadError(file);
    return file;
  },
});
