import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { TUS, TUS_ALGORITHMS, TUS_EXTENSIONS } from './tus.ts';
import { FileParams } from './upload-file.ts';

export const describeTus = endpoint({
  method: 'OPTIONS',
  path: '/v1/wikis/:wiki_id/uploads/:upload_id/files/:file_id',
  summary: 'Get tus capabilities',
  description: 'Versions, extensions and limits of tus, in headers.',
  access: onWiki('uploads:create'),
  params: FileParams,
  responseHeaders: TUS,
  status: 204,
  reply: Type.Object({ max_size: Type.Integer() }),
  headers: ({ max_size }) => ({
    'tus-extension': TUS_EXTENSIONS,
    'tus-checksum-algorithm': TUS_ALGORITHMS,
    'tus-max-size': String(max_size),
  }),
  example: { reply: { max_size: 104_857_600 } },
  run: async ({ params, services, one }) => {
    await one(sql`
      select 1 from upload_files f
      where f.wiki_id = ${params.wiki_id} and f.upload_id = ${params.upload_id} and f.file_id = ${params.file_id}`);
    return { max_size: services.limits.file_bytes };
  },
});
