import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { InputText, WikiParams } from '../../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { markedBy, readHits, resolvedFor } from '../../search/query/search.ts';
import { CUT_HEADER, cutHeader, SEARCH_ORDER } from '../../search/query/search-parameters.ts';
import { branchesAround } from '../list-branches.ts';
import { BranchEntry, exampleBranch } from '../schema.ts';
import { BRANCH_MAX, listed } from '../surroundings.ts';
import { formOf, treeVersion } from '../tree-tag.ts';
import { countedAttempts, countFound, countingOf, countsOf, NO_HITS } from './count-found.ts';
import { COUNTED_OF, exampleCounts } from './count-hits.ts';
import { PAGE_SEARCH, readPageSearch, withPassages } from './find-pages.ts';
import type { HitRow } from './known-texts.ts';
import { SearchView } from './schema.ts';
import { exampleHits, searchPages } from './search-pages.ts';

const { offset: _, ...WITHOUT_OFFSET } = PAGE_SEARCH;

const FORM = formOf(BranchEntry);

/** The counts and the tree, which are selected together with the hits. */
interface Around {
  /** Input of `read` of the counting. */
  counts: unknown;
  tree: SearchView['tree'];
}

/**
 * Uses one statement with one access check, where separate requests for hits, counts and tree would take three of each.
 */
export const getSearchView = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/search/view',
  summary: 'Get a search view',
  description:
    'Combines `…/pages/search`, `…/pages/search/facets` and the root of the page tree. Send the tag of the tree as `known_tree` ' +
    'to avoid receiving it again. Takes the parameters of the search except `offset`.',
  access: onWiki('pages:read'),
  canWait: true,
  isHeavy: true,
  limit: 'search',
  params: WikiParams,
  query: Type.Object({
    ...WITHOUT_OFFSET,
    of: COUNTED_OF,
    known_tree: Type.Optional(InputText({ description: 'The tag of a tree that the client already has.' })),
  }),
  paging: { ...SEARCH_ORDER, counted: ({ hits }) => hits, list: searchPages.path },
  replyHeaders: CUT_HEADER,
  reply: SearchView,
  example: {
    reply: {
      hits: exampleHits,
      counts: exampleCounts,
      tree: { tag: '812-1764', branches: [exampleBranch] },
    },
  },
  run: async ({ params: { wiki_id }, query, paging, credential, many, setHeaders }) => {
    setHeaders(cutHeader(query.query));
    const search = readPageSearch(wiki_id, { ...query, offset: 0 }, paging, credential);
    const { index, parsed, part, shown, show, complete } = search;
    const tree = treeCte(wiki_id, query.known_tree ?? '');
    const found = await resolvedFor(many, index, parsed, part.caller, async (resolved) => {
      const tries = countedAttempts(many, index, parsed, resolved, shown);
      const { value: first } = await tries.next();
      const counting = first && countingOf(many, index, first, resolved, shown, query.of);
      const beside = {
        ...counting?.ctes,
        tree,
        beside: sql`
          select json_build_object('counts', ${counting?.value ?? raw('null')}, 'tree', (select to_json(t) from tree t)) as value`,
      };
      const read = await readHits<HitRow>(many, index, parsed, resolved, part, shown, show, { beside, complete });
      if (read === undefined) return undefined;
      const { value = (await many<{ value: unknown }>({ ...beside, result: VALUE }))[0]?.value } = read;
      const around = value as Around;
      const counts =
        first && counting
          ? await countFound(
              many,
              index,
              resolved,
              shown,
              query.of,
              tries,
              countsOf(first, await counting.read(around.counts)),
            )
          : NO_HITS;
      return counts && { hits: { rows: read.rows, ...markedBy(parsed, resolved) }, counts, tree: around.tree };
    });
    return { ...found, hits: await withPassages(many, search, found.hits) };
  },
});

function treeCte(wiki_id: string, known_tree: string): Sql {
  return sql`
    select t.tag, case when t.tag = ${known_tree} then '[]'::json else ${listed(branchesAround(wiki_id, '', { limit: BRANCH_MAX }))} end as branches
    from wikis w cross join lateral (select ${treeVersion(FORM)} as tag offset 0) t
    where w.wiki_id = ${wiki_id}`;
}

const VALUE = raw('select b.value from beside b');
