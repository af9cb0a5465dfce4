import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleTemplate, Template, templateColumns } from './schema.ts';

export const listTemplates = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/templates',
  summary: 'List templates',
  description: 'The pages of the wiki that are templates, except archived pages and pages in the trash.',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Paging,
  paging: { keys: { 'm.page_id': 'text' } },
  reply: Type.Array(Template),
  example: { reply: [exampleTemplate] },
  run: ({ params: { wiki_id }, paging, many }) =>
    many(sql`
      select ${templateColumns} from templates m
      join pages p on p.wiki_id = m.wiki_id and p.page_id = m.page_id
      where m.wiki_id = ${wiki_id} and p.status <> 'archived' and p.trashed_at is null ${paging.clause}`),
});
