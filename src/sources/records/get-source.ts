import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleSource, Source, SourceParams, sourceColumns } from './schema.ts';

export const getSource = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/:source_id',
  summary: 'Get a source',
  access: onWiki('sources:read'),
  params: SourceParams,
  reply: Source,
  example: { reply: exampleSource },
  run: ({ params, one }) =>
    one(sql`
      select ${sourceColumns} from sources s
      where s.wiki_id = ${params.wiki_id} and s.source_id = ${params.source_id}
    `),
});
