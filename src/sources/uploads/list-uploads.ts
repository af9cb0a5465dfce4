import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { PAGING } from '../../platform/core/paging.ts';
import { WikiParams, withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleUpload, Upload, uploadColumns } from './schema.ts';

export const listUploads = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/uploads',
  summary: 'List uploads',
  access: onWiki('sources:read'),
  params: WikiParams,
  query: Type.Object({
    ...PAGING,
    order: Type.Optional(Type.Enum(['oldest', 'newest'], { description: 'Sort order; oldest first by default.' })),
  }),
  paging: { keys: { 'u.upload_id': 'text' }, isDescending: ({ order }) => order === 'newest' },
  reply: Type.Array(Upload),
  example: { reply: [exampleUpload] },
  run: async ({ params, paging, many }) => {
    const uploads = await many<Upload>(sql`
      select ${uploadColumns} from uploads u where u.wiki_id = ${params.wiki_id}
      ${paging.clause}
    `);
    return uploads.map(withoutNulls);
  },
});
