import { onWiki } from '../../../platform/access/access-rule.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePage, Page, PageParams, pageColumns } from '../schema.ts';

export const keepPage = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/pages/:page_id/keep',
  summary: 'Keep a stale page',
  description:
    'The page stays unchanged and is no longer stale, until its source changes again. If its file is missing from its folder, later syncs no longer report it. If a file with the same name comes back, it belongs to this page again. 404 if the page is not stale.',
  access: onWiki('pages:write'),
  event: 'page.kept',
  params: PageParams,
  reply: Page,
  example: { reply: examplePage },
  run: ({ params: { wiki_id, page_id }, one }) =>
    one({
      before: sql`
        select ${pageColumns}, p.gone_file from pages p join access a on a.wiki_id = p.wiki_id
        where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null and (p.stale or p.gone_file is not null)
        for no key update of p`,
      result: sql`
        update pages p set stale = false, gone_file = null from before
        where p.wiki_id = ${wiki_id} and p.page_id = before.page_id
        returning ${pageColumns}, ''::text as gone_file`,
    }),
});
