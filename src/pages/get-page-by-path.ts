import { Type } from 'typebox';
import { sql } from '../db/sql.ts';
import { onWiki } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { Id } from '../http/records.ts';
import { pageDocument } from './page-document.ts';
import { exampleFullPage, FullPage, fullPageColumns } from './schema.ts';

export const getPageByPath = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/path/*page_path',
  summary: 'Get a page by its path',
  description: 'JSON, or by Accept the Markdown (text/markdown) or a safe HTML document (text/html).',
  access: onWiki('pages:read'),
  params: Type.Object({
    wiki_id: Id,
    page_path: Type.String({ description: 'Slugs joined by "/", as `path` has them.' }),
  }),
  reply: FullPage,
  also: { 'text/markdown': (page) => page.markdown, 'text/html': pageDocument },
  example: { reply: exampleFullPage },
  run: ({ params, one }) =>
    one(sql`
      select ${fullPageColumns} from pages p
      join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
      where p.wiki_id = ${params.wiki_id} and p.path = ${params.page_path}
    `),
});
