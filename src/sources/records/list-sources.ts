import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleSource, Source, sourceColumns } from './schema.ts';

export const listSources = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources',
  summary: 'List sources',
  access: onWiki('sources:read'),
  params: WikiParams,
  query: Paging,
  paging: { keys: { 's.source_id': 'text' } },
  reply: Type.Array(Source),
  example: { reply: [exampleSource] },
  run: ({ params, paging, many }) =>
    many(sql`
      select ${sourceColumns} from sources s where s.wiki_id = ${params.wiki_id}
      ${paging.clause}
    `),
});
