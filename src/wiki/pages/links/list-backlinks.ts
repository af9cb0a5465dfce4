import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { Paging } from '../../../platform/core/paging.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { listOfPage } from '../list-of-page.ts';
import { examplePage, Page, PageParams, pageColumns } from '../schema.ts';

export const listBacklinks = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/backlinks',
  summary: "List a page's backlinks",
  description: 'The pages that link to this page.',
  access: onWiki('pages:read'),
  params: PageParams,
  query: Paging,
  paging: { keys: { 'l.page_id': 'text' } },
  reply: Type.Array(Page),
  example: { reply: [examplePage] },
  run: ({ params, paging, many }) =>
    listOfPage(
      many,
      params,
      // This `p` is the linking page, not the page of the list. Walks page_links_to, then looks up each page by its key
      // (`offset 0`).
      sql`select p.* from (
          select distinct l.from_page_id as page_id from page_links l
          where l.wiki_id = ${params.wiki_id} and l.to_page_id = ${params.page_id}) l
        cross join lateral (
          select ${pageColumns} from pages p
          where p.wiki_id = ${params.wiki_id} and p.page_id = l.page_id and p.trashed_at is null offset 0) p
        where true ${paging.clause}`,
    ),
});
