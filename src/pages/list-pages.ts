import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { PAGING } from '../core/paging.ts';
import { WikiParams } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { examplePage, isVisible, Page, pageColumns } from './schema.ts';

export const listPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages',
  summary: 'List pages',
  description: 'Drafts are listed for those who may write; archived pages only where `status` asks for them.',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Type.Object({
    ...PAGING,
    status: Type.Optional(Type.Enum(['draft', 'published', 'archived'], { description: 'Only these.' })),
  }),
  paging: { keys: { 'p.page_id': 'text' } },
  reply: Type.Array(Page),
  example: { reply: [examplePage] },
  // Walks the primary key of pages, so that the first page costs the same in a wiki of any size.
  run: ({ params, query: { status = null }, paging, many }) =>
    many(sql`
      select ${pageColumns} from pages p where p.wiki_id = ${params.wiki_id} and ${isVisible}
        and (p.status = ${status}::text or (${status}::text is null and p.status <> 'archived'))
      ${paging.clause}
    `),
});
