import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams } from '../pages/schema.ts';
import { templateColumns } from './schema.ts';

export const removeTemplate = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id/templates/:page_id',
  summary: 'Remove a template',
  description: 'The page becomes an ordinary page again. Pages made from it stay. 404 if the page is not a template.',
  access: onWiki('pages:write'),
  event: 'template.removed',
  params: PageParams,
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ params: { wiki_id, page_id }, one }) => {
    await one({
      m: sql`
        delete from templates m using access a, pages p
        where m.wiki_id = a.wiki_id and m.page_id = ${page_id} and p.wiki_id = ${wiki_id} and p.page_id = m.page_id and p.trashed_at is null
        returning m.*`,
      before: sql`select ${templateColumns} from m join pages p on p.wiki_id = ${wiki_id} and p.page_id = m.page_id`,
      result: sql`select from before`,
    });
    return null;
  },
});
