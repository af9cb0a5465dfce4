import { Type } from 'typebox';
import { sql } from '../db/sql.ts';
import { onWorkspace } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { Paging } from '../http/paging.ts';
import { Id } from '../http/records.ts';
import { exampleWiki, Wiki } from './schema.ts';

export const listWikis = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/wikis',
  summary: "List a workspace's wikis",
  access: onWorkspace('pages:read'),
  params: Type.Object({ workspace_id: Id }),
  query: Paging,
  reply: Type.Array(Wiki),
  example: { reply: [exampleWiki] },
  run: ({ params, query, many }) =>
    many(sql`
      select wiki_id, workspace_id, slug, title, description from wikis
      where workspace_id = ${params.workspace_id} order by wiki_id limit ${query.limit} offset ${query.offset}
    `),
});
