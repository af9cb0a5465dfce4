import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint, Moved } from '../../platform/http/endpoint.ts';
import { pageAddress, pageDocument, readPage } from './read-page.ts';
import { exampleFullPage, FullPage, pageTag } from './schema.ts';

export const getPageByPath = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/path/*page_path',
  summary: 'Get a page by its path',
  description:
    'Returns JSON; with Accept, Markdown (text/markdown) or a safe HTML document (text/html). A former path of the page ' +
    'works too: `path` has the current path, and a request for HTML is redirected to it (308).',
  access: onWiki('pages:read'),
  params: Type.Object({
    wiki_id: Id,
    page_path: Type.String({ description: 'Slugs joined by "/", as in `path`.' }),
  }),
  reply: FullPage,
  etag: pageTag,
  representations: {
    'text/markdown': (page) => page.markdown,
    'text/html': (page, params) =>
      params && params.page_path !== page.path ? new Moved(pageAddress(page)) : pageDocument(page),
  },
  example: { reply: exampleFullPage },
  run: (context) => {
    const { wiki_id, page_path } = context.params;
    return readPage(
      context,
      pageAtPath(wiki_id, page_path),
      // A browser that asks for a former path is redirected to the current one.
      sql`p.path = ${page_path}`,
    );
  },
});

/**
 * Selects a page `p` with its current revision `r`, by its current or a former path; to be used after `from`.
 * Materialized, because under row-level security PostgreSQL cannot use a `coalesce` as an index key.
 */
export function pageAtPath(wiki_id: string, page_path: string): Sql {
  return sql`(
    with found as materialized (
      select coalesce(
        (select p.page_id from pages p where p.wiki_id = ${wiki_id} and p.path = ${page_path} and p.trashed_at is null),
        (select o.page_id from page_paths o where o.wiki_id = ${wiki_id} and o.path = ${page_path})) as page_id
    )
    select page_id from found) found
    join pages p on p.wiki_id = ${wiki_id} and p.page_id = found.page_id
    join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
    where p.trashed_at is null`;
}
