import { Type } from 'typebox';
import { sql } from '../db/sql.ts';
import { onWiki } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { Paging } from '../http/paging.ts';
import { WikiParams } from '../wikis/schema.ts';
import { examplePage, Page, pageColumns } from './schema.ts';

export const listPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages',
  summary: 'List pages',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Paging,
  reply: Type.Array(Page),
  example: { reply: [examplePage] },
  // Walks the primary key of pages, so that the first page costs the same in a wiki of any size.
  run: ({ params, query, many }) =>
    many(sql`
      select ${pageColumns} from pages p where p.wiki_id = ${params.wiki_id}
      order by p.page_id limit ${query.limit} offset ${query.offset}
    `),
});
