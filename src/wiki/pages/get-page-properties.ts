import { onWiki } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { PageParams, PageProperties } from './schema.ts';

export const getPageProperties = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/properties',
  summary: "Get a page's tags and properties",
  description: 'Tags and other fields from the front matter of the Markdown. The other fields are returned as text.',
  access: onWiki('pages:read'),
  params: PageParams,
  reply: PageProperties,
  example: { reply: { tags: ['install'], properties: [{ name: 'author', value: 'Ada Lovelace' }] } },
  run: ({ params: { wiki_id, page_id }, one }) =>
    one<PageProperties>(sql`
      select p.tags, p.properties from pages p
      where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null`),
});
