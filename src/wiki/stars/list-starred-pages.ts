import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleStarredPage, OWN_STARS, StarredPage, starredPageColumns } from './schema.ts';

export const listStarredPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/starred-pages',
  summary: 'List starred pages',
  description: 'The pages that the caller has starred. Excludes pages in the trash; a restored page is starred again.',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Paging,
  paging: { keys: { 's.page_id': 'text' } },
  reply: Type.Array(StarredPage),
  example: { reply: [exampleStarredPage] },
  run: ({ paging, many }) =>
    many(sql`
      select ${starredPageColumns} from ${OWN_STARS}
      join pages p on p.wiki_id = s.wiki_id and p.page_id = s.page_id
      where p.trashed_at is null ${paging.clause}`),
});
