import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { notFound } from '../../platform/core/errors.ts';
import { Paging } from '../../platform/core/paging.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { examplePage, Page, PageParams, pageColumns } from './schema.ts';

export const listChildren = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/children',
  summary: "List a page's children",
  description: 'The pages directly below it, in their order, including archived ones.',
  access: onWiki('pages:read'),
  params: PageParams,
  query: Paging,
  paging: { keys: { 'p.position': 'integer', 'p.page_id': 'text' } },
  reply: Type.Array(Page),
  etag: () => '',
  example: { reply: [examplePage] },
  run: async ({ params: { wiki_id, page_id }, paging, many }) => {
    // Selects the page itself too, to tell a page without children from a missing page.
    const rows = await many<Page & { place: number }>(sql`
      (select ${pageColumns}, 0 as place from pages p where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null)
      union all
      (select ${pageColumns}, 1 from pages p where p.wiki_id = ${wiki_id} and p.parent_page_id = ${page_id} and p.trashed_at is null
        ${paging.clause})
      order by place, position, page_id`);
    if (rows[0]?.place !== 0) throw notFound();
    return rows.slice(1).map(({ place: _, ...page }) => page);
  },
});
