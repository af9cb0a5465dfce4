import { onWiki } from '../../platform/access/access-rule.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWiki, Wiki, wikiColumns } from './schema.ts';

export const getWiki = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id',
  summary: 'Get a wiki',
  access: onWiki('pages:read'),
  params: WikiParams,
  reply: Wiki,
  example: { reply: exampleWiki },
  run: ({ params, one }) => one(sql`select ${wikiColumns} from wikis w where w.wiki_id = ${params.wiki_id}`),
});
