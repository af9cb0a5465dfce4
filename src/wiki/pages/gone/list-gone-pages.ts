import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { PAGING } from '../../../platform/core/paging.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePage } from '../schema.ts';
import { GonePage } from './schema.ts';

/** Maximum number of pages that are counted below a page. */
const COUNTED_MAX = 1_000;

export const listGonePages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/gone',
  summary: 'List pages with missing files',
  description:
    'Pages whose files were missing from the last sync of their folder. They are stale until the file comes back or someone keeps the page, deletes it or writes a new text.',
  access: onWiki('pages:write'),
  params: WikiParams,
  query: Type.Object({
    from: Type.Optional(Type.String({ maxLength: 100, description: 'Only this page and later ones.' })),
    ...PAGING,
  }),
  paging: { keys: { 'p.page_id': 'text' } },
  reply: Type.Array(GonePage),
  example: {
    reply: [
      {
        page_id: examplePage.page_id,
        wiki_id: examplePage.wiki_id,
        path: examplePage.path,
        title: examplePage.title,
        filename: 'guide/setup.md',
        pages_below: 0,
        revision: 1,
        updated_at: examplePage.updated_at,
      },
    ],
  },
  // Walks pages_of_gone_files. For each page it counts in pages_live_path, which is sorted by bytes: "0" follows "/".
  // Materialized, because under row-level security only columns can be index keys.
  run: ({ params, query: { from = '' }, paging, many }) =>
    many(sql`
      with gone as materialized (
        select p.page_id, p.wiki_id, p.path, p.title, p.gone_file as filename, p.revision, p.updated_at,
          p.path || '/' as below, p.path || '0' as beyond
        from pages p
        where p.wiki_id = ${params.wiki_id} and p.gone_file is not null and p.trashed_at is null and p.page_id >= ${from}
        ${paging.clause}
      )
      select g.*, (
          select count(*)::int from (
            select from pages b
            where b.wiki_id = ${params.wiki_id} and b.trashed_at is null and b.path > g.below and b.path < g.beyond
            limit ${raw(String(COUNTED_MAX))}) counted) as pages_below
      from gone g order by g.page_id
    `),
});
