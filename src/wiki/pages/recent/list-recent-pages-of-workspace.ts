import { Type } from 'typebox';
import { hasPermission, onWorkspace } from '../../../platform/access/access-rule.ts';
import { Id } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePage, Page, pageColumns } from '../schema.ts';
import { LAST_CHANGED_FIRST, MOST_RECENT } from './recent-pages.ts';

export const listRecentPagesOfWorkspace = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/recent-pages',
  summary: 'List recently changed pages of all wikis',
  description:
    'The most recently changed pages of each wiki of the workspace, at most `per_wiki` of each, latest change ' +
    'first. Excludes archived pages; includes drafts only if the caller may write.',
  access: onWorkspace('pages:read'),
  params: Type.Object({ workspace_id: Id }),
  query: Type.Object({
    limit: MOST_RECENT,
    per_wiki: Type.Integer({
      minimum: 1,
      maximum: 20,
      default: 20,
      description: 'Maximum number of pages of each wiki.',
    }),
  }),
  reply: Type.Array(Page),
  example: { reply: [examplePage] },
  run: ({ query: { limit, per_wiki }, many }) =>
    many(sql`
      select ${pageColumns} from access a
      cross join lateral recent_pages(a.workspace_id, ${per_wiki}::int, ${hasPermission('pages:write')}) p
      ${LAST_CHANGED_FIRST} limit ${limit}`),
});
