import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { PAGING } from '../../../platform/core/paging.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePage } from '../schema.ts';
import { STALE_SOURCES_MAX, StalePage } from './schema.ts';

export const listStalePages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/stale',
  summary: 'List stale pages',
  description:
    'Pages that may be out of date: their source changed where people had edited the page, their source was deleted, or their file is missing from its folder. A page is listed until someone writes a new text or keeps the page.',
  access: onWiki('pages:write'),
  params: WikiParams,
  query: Type.Object(PAGING),
  paging: { keys: { 'p.page_id': 'text' } },
  reply: Type.Array(StalePage),
  example: {
    reply: [
      {
        page_id: examplePage.page_id,
        wiki_id: examplePage.wiki_id,
        path: examplePage.path,
        title: examplePage.title,
        gone_filename: '',
        sources: [{ source_id: 'source_01jd8w3v6xf3e8h2k9m4n5p6t1', title: 'Setup', filename: 'guide/setup.md' }],
        revision: 2,
        updated_at: examplePage.updated_at,
      },
    ],
  },
  // Walks pages_stale. Materialized, so that sources are looked up only for the listed pages.
  run: ({ params, paging, many }) =>
    many(sql`
      with stale as materialized (
        select p.page_id, p.wiki_id, p.path, p.title, coalesce(p.gone_file, '') as gone_filename, p.revision, p.updated_at
        from pages p
        where p.wiki_id = ${params.wiki_id} and p.stale and p.trashed_at is null
        ${paging.clause}
      )
      select l.*, array(
          select json_build_object('source_id', s.source_id, 'title', s.title, 'filename', s.filename)
          from page_sources c
          join sources s on s.wiki_id = c.wiki_id and s.source_id = c.source_id
          where c.wiki_id = ${params.wiki_id} and c.page_id = l.page_id
          order by c.source_id limit ${raw(String(STALE_SOURCES_MAX))}) as sources
      from stale l order by l.page_id
    `),
});
