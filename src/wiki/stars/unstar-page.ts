import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams } from '../pages/schema.ts';
import { OWN_STARS } from './schema.ts';

export const unstarPage = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id/starred-pages/:page_id',
  summary: 'Unstar a page',
  description: '404 if the caller has not starred the page.',
  access: onWiki('pages:read', { unlimited: true }),
  event: 'star.removed',
  params: PageParams,
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ params: { page_id }, one }) => {
    await one({
      before: sql`select s.page_id, s.wiki_id from ${OWN_STARS} where s.page_id = ${page_id} for update of s`,
      s: sql`
        delete from starred_pages s using before b, access a
        where s.wiki_id = b.wiki_id and s.user_id = a.user_id and s.page_id = b.page_id
        returning s.page_id`,
      result: sql`select from s`,
    });
    return null;
  },
});
