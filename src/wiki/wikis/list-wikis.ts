import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWiki, Wiki, wikiColumns } from './schema.ts';

export const listWikis = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/wikis',
  summary: "List a workspace's wikis",
  access: onWorkspace('pages:read'),
  params: Type.Object({ workspace_id: Id }),
  query: Paging,
  paging: { keys: { wiki_id: 'text' } },
  reply: Type.Array(Wiki),
  example: { reply: [exampleWiki] },
  run: ({ params, paging, many }) =>
    many(sql`
      select ${wikiColumns} from wikis w
      where w.workspace_id = ${params.workspace_id} ${paging.clause}
    `),
});
