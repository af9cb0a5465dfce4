import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { Id, Record, WikiParams } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint, JsonText } from '../http/endpoint.ts';
import { examplePage, isVisible } from './schema.ts';

const TreeEntry = Record({
  page_id: Id,
  parent_page_id: Type.String({ description: '"" at the root.' }),
  slug: Type.String(),
  title: Type.String(),
  status: Type.Enum(['draft', 'published', 'archived']),
});

const { page_id, parent_page_id, slug, title, status } = examplePage;

/** Lean, because it is all pages at once: a path is the slugs from the root, a position the order in the list. */
export const getTree = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/tree',
  summary: 'Get the tree of pages',
  description: 'All pages of the wiki, siblings in their order; archived ones too, drafts for those who may write.',
  access: onWiki('pages:read'),
  params: WikiParams,
  reply: Type.Array(TreeEntry),
  etag: () => '',
  example: { reply: [{ page_id, parent_page_id, slug, title, status }] },
  run: async ({ params, one }) => {
    const { pages } = await one<{ pages: string }>(sql`
      select coalesce(json_agg(entry), '[]')::text as pages from (
        select p.page_id, coalesce(p.parent_page_id, '') as parent_page_id, p.slug, p.title, p.status
        from pages p where p.wiki_id = ${params.wiki_id} and ${isVisible}
        order by p.position, p.page_id
      ) entry
    `);
    return new JsonText(pages);
  },
});
