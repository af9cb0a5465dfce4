import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { Paging } from '../../../platform/core/paging.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { examplePage } from '../schema.ts';
import { TRASH_DAYS } from './purge-trash.job.ts';
import { TrashedPage } from './schema.ts';

export const listTrash = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/trash',
  summary: 'List the trash',
  description: 'Deleted pages, each with the pages below it.',
  access: onWiki('pages:write'),
  params: WikiParams,
  query: Paging,
  paging: { keys: { 'p.page_id': 'text' } },
  reply: Type.Array(TrashedPage),
  example: {
    reply: [
      {
        page_id: examplePage.page_id,
        wiki_id: examplePage.wiki_id,
        path: examplePage.path,
        title: examplePage.title,
        page_count: 1,
        trashed_at: '2026-11-21T05:29:32.104Z',
        trashed_by: examplePage.created_by,
        purge_at: '2026-12-21T05:29:32.104Z',
      },
    ],
  },
  // Walks pages_trash. For each page it counts in pages_trashed_with.
  run: ({ params, paging, many }) =>
    many(sql`
      select p.page_id, p.wiki_id, p.path, p.title, p.trashed_at, p.trashed_by,
        case when w.held_since is not null then '' else rfc3339(greatest(
          p.trashed_at + make_interval(days => coalesce(w.trash_days, ${raw(String(TRASH_DAYS))})),
          w.retention_changed_at + interval '1 day')) end as purge_at,
        (select count(*)::int from pages c where c.wiki_id = ${params.wiki_id} and c.trashed_at is not null
          and c.trashed_with = p.page_id) as page_count
      from pages p cross join (
        select w.* from access a join workspaces w on w.workspace_id = a.workspace_id) w
      where p.wiki_id = ${params.wiki_id} and p.trashed_with = p.page_id
      ${paging.clause}
    `),
});
