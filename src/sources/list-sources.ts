import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { Paging } from '../core/paging.ts';
import { WikiParams } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
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
