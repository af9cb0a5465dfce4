import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { branchesAround, branchesBeside } from './list-branches.ts';
import { exampleBranch, examplePage, PageParams, PageSurroundings, presentPage } from './schema.ts';
import {
  BRANCH_MAX,
  lastAuthor,
  listed,
  type SurroundingRow,
  shownBacklinks,
  surroundingColumns,
} from './surroundings.ts';

/** Uses one statement, because all of this is shown with each page. */
export const getPageSurroundings = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/surroundings',
  summary: "Get a page's surroundings",
  description:
    'Everything shown around the text of a page: its tags and properties, last author, nearby tree, the beginnings of its subpages, ' +
    'backlinks and incomplete sources. Each of these has an endpoint of its own, too.',
  access: onWiki('pages:read'),
  params: PageParams,
  query: Type.Object({
    branches: Type.Optional(
      Type.Enum(['tree', 'beside'], {
        description:
          'tree, or absent: everything that a tree shows. beside: only ancestors, siblings and children of the page, ' +
          'all with `has_children` false, for clients that show no tree.',
      }),
    ),
  }),
  reply: PageSurroundings,
  example: {
    reply: {
      tags: ['install'],
      properties: [{ name: 'author', value: 'Ada Lovelace' }],
      updated_by_name: 'Ada Lovelace',
      updated_by_avatar_url: '',
      branches: [exampleBranch],
      subpages: [],
      is_starred: false,
      backlinks: [{ page_id: examplePage.page_id, path: 'guide', title: 'Guide' }],
      has_more_backlinks: false,
      incomplete_sources: [],
    },
  },
  run: async ({ params: { wiki_id, page_id }, query: { branches: asked }, services, one }) => {
    const branches =
      asked === 'beside'
        ? branchesBeside(wiki_id, page_id, BRANCH_MAX)
        : branchesAround(wiki_id, page_id, { limit: BRANCH_MAX });
    const found = await one<SurroundingRow & Pick<PageSurroundings, 'branches'>>(sql`
      select ${surroundingColumns(wiki_id, page_id)}, ${listed(branches)} as branches
      from (
        select p.*, r.claim from ${presentPage({ wiki_id, page_id })} offset 0
      ) p left join lateral (${lastAuthor(services)}) author on true`);
    return withoutNulls({ ...found, ...shownBacklinks(found) });
  },
});
