import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePage, Page, pageColumns } from '../schema.ts';
import { LAST_CHANGED_FIRST, MOST_RECENT, recentPages } from './recent-pages.ts';

export const listRecentPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/recent-pages',
  summary: 'List recently changed pages',
  description:
    'Latest change first, whether of the text, title, place or status. Excludes archived pages; includes drafts only if the ' +
    'caller may write.',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Type.Object({ limit: MOST_RECENT }),
  reply: Type.Array(Page),
  example: { reply: [examplePage] },
  run: ({ params: { wiki_id }, query: { limit }, many }) =>
    many(sql`
      select ${pageColumns} from ${recentPages(wiki_id, limit)} p ${LAST_CHANGED_FIRST} limit ${limit}`),
});
