import { type Static, Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { Id, InputText, Record } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { pageAtPath } from './get-page-by-path.ts';
import { movedLinksOfPage } from './links/moved-links.ts';
import { branchesAround, branchesBeside, pageAndChildren } from './list-branches.ts';
import {
  BranchEntry,
  citedSources,
  exampleBranch,
  exampleFullPage,
  type FullPageRow,
  PageSurroundings,
  pageColumns,
  ReadPage,
} from './schema.ts';
import { shownPage } from './shown-page.ts';
import {
  BRANCH_MAX,
  lastAuthor,
  listed,
  type SurroundingRow,
  shownBacklinks,
  surroundingColumns,
} from './surroundings.ts';
import { formOf, treeVersion } from './tree-tag.ts';

const Tree = Record(
  {
    tag: Type.String({ description: 'Changes whenever the tree changes for this caller.' }),
    branches: Type.Array(BranchEntry, {
      description: 'The branches around the parent page, as in `/branches`; empty if `known_tree` is the current tag.',
    }),
  },
  { title: 'PageTree' },
);

const FORM = formOf(BranchEntry);

interface ViewRow extends FullPageRow, SurroundingRow {
  branches: PageSurroundings['branches'];
  tree_tag: string;
  tree: Static<typeof BranchEntry>[];
}

const { markdown: _, ...examplePage } = exampleFullPage;

/**
 * Uses one statement with one access check: three separate requests made up half of the cost of showing a page in a
 * browser.
 */
export const getPageView = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/view/*page_path',
  summary: 'Get a page view',
  description:
    'Returns a page by its path, without its Markdown, together with its surroundings and tree. Former paths of the page work ' +
    'too. `surroundings.branches` has the page and its children. Sibling pages share the same `tree`: ' +
    'send its tag as `known_tree` to avoid receiving it again.',
  access: onWiki('pages:read'),
  params: Type.Object({
    wiki_id: Id,
    page_path: Type.String({ description: 'Slugs joined by "/", as in `path`.' }),
  }),
  query: Type.Object({
    known_tree: Type.Optional(InputText({ description: 'The tag of a tree that the client already has.' })),
    branches: Type.Optional(
      Type.Enum(['tree', 'beside'], {
        description:
          'tree, or absent: as described above. beside: no tree; `surroundings.branches` has ancestors, siblings ' +
          'and children of the page, all with `has_children` false.',
      }),
    ),
  }),
  reply: Record({ page: ReadPage, surroundings: PageSurroundings, tree: Tree }, { title: 'PageView' }),
  example: {
    reply: {
      page: examplePage,
      surroundings: {
        tags: ['install'],
        properties: [{ name: 'author', value: 'Ada Lovelace' }],
        updated_by_name: 'Ada Lovelace',
        updated_by_avatar_url: '',
        branches: [exampleBranch],
        subpages: [],
        is_starred: false,
        backlinks: [],
        has_more_backlinks: false,
        incomplete_sources: [],
      },
      tree: { tag: '812-1764-page_01jd8w3v6xf3e8h2k9m4n5p6s0', branches: [exampleBranch] },
    },
  },
  run: async ({ params: { wiki_id, page_path }, query: { branches: asked, known_tree = '' }, services, one }) => {
    const here = raw('here.page_id');
    // The parent may be a draft that is hidden from the caller.
    const around = branchesAround(wiki_id, raw('here.parent_page_id'), { limit: BRANCH_MAX, mayBeHidden: true });
    const [own, tree] =
      asked === 'beside'
        ? [branchesBeside(wiki_id, here, BRANCH_MAX), NO_BRANCHES]
        : [
            pageAndChildren(wiki_id, here, BRANCH_MAX),
            sql`case when here.tree_tag = ${known_tree} then ${NO_BRANCHES} else ${listed(around)} end`,
          ];
    const row = await one<ViewRow>(sql`
      select ${pageColumns}, case when p.moved is null then '' else p.markdown end as markdown, p.html, p.outline, p.folder, p.moved, p.citations,
        ${surroundingColumns(wiki_id, here)}, ${listed(own)} as branches, here.tree_tag, ${tree} as tree
      from (
        select p.*, r.markdown, r.html, r.outline, r.folder, r.claim, ${movedLinksOfPage} as moved, ${citedSources} as citations
        from ${pageAtPath(wiki_id, page_path)} offset 0
      ) p
      cross join lateral (
        select p.page_id, p.parent_page_id,
          concat(${treeVersion(FORM)}, '-', p.parent_page_id) as tree_tag
        from wikis w where w.wiki_id = ${wiki_id} offset 0
      ) here
      left join lateral (${lastAuthor(services)}) author on true`);
    return viewOf(row);
  },
});

const NO_BRANCHES = raw("'[]'::json");

function viewOf(row: ViewRow) {
  const { tags, properties, updated_by_name, updated_by_avatar_url, subpages, is_starred, incomplete_sources } = row;
  const { branches, claim, tree_tag, tree } = row;
  return {
    page: shownPage(row),
    surroundings: {
      tags,
      properties,
      updated_by_name,
      updated_by_avatar_url,
      ...(claim && { claim }),
      branches,
      subpages,
      is_starred,
      incomplete_sources,
      ...shownBacklinks(row),
    },
    tree: { tag: tree_tag, branches: tree },
  };
}
