import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { Id, withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleUpload, Upload, uploadColumns } from './schema.ts';

export const getUpload = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/uploads/:upload_id',
  summary: 'Get an upload',
  access: onWiki('sources:read'),
  params: Type.Object({ wiki_id: Id, upload_id: Id }),
  reply: Upload,
  example: { reply: exampleUpload },
  run: async ({ params, one }) => {
    const upload = await one<Upload>(sql`
      select ${uploadColumns} from uploads u
      where u.wiki_id = ${params.wiki_id} and u.upload_id = ${params.upload_id}
    `);
    return withoutNulls(upload);
  },
});
