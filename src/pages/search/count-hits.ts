import { Type } from 'typebox';
import { hasPermission, onWiki } from '../../access/access-rule.ts';
import { WikiParams } from '../../core/records.ts';
import { sql } from '../../db/sql.ts';
import { endpoint } from '../../http/endpoint.ts';
import { attempts } from '../../search/query/attempts.ts';
import { candidateDocuments } from '../../search/query/candidates.ts';
import { resolveQuery } from '../../search/query/resolve-query.ts';
import { CUT_HEADER, cutHeader, readSearch, SEARCHED } from '../../search/query/search-parameters.ts';
import { IS_FOUND } from '../schema.ts';
import { shownPages } from './page-filters.ts';
import { HitCounts, MAX_COUNTED } from './schema.ts';
import { PAGE_FILTERS } from './search-pages.ts';

/** How many authors, folders and tags are named, those with the most hits first. */
const MAX_NAMED = 20;

const NONE: HitCounts = { total: 0, is_exact: true, authors: [], folders: [], tags: [], statuses: [] };

/** An endpoint of its own, since a search answers a plain array. */
export const countHits = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/search/facets',
  summary: 'Count what a search finds',
  description:
    'How many pages a search finds, and how many of them by author, by the page at the root that they are below, by ' +
    'tag and by status, to narrow it. Takes the parameters of the search.',
  access: onWiki('pages:read'),
  canWait: true,
  isHeavy: true,
  limit: 'search',
  params: WikiParams,
  query: Type.Object({ ...SEARCHED, ...PAGE_FILTERS }),
  replyHeaders: CUT_HEADER,
  reply: HitCounts,
  example: {
    reply: {
      total: 12,
      is_exact: true,
      authors: [{ user_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8', display_name: 'Ada Lovelace', count: 12 }],
      folders: [{ path: 'guide', title: 'Guide', count: 9 }],
      tags: [{ tag: 'install', count: 3 }],
      statuses: [{ status: 'published', count: 12 }],
    },
  },
  run: async ({ params: { wiki_id }, query, many, setHeaders }) => {
    setHeaders(cutHeader(query.query));
    const parsed = readSearch(query);
    const shown = shownPages(parsed.filters);
    const index = { wiki_id, kind: 'page' } as const;
    const resolved = await resolveQuery(many, index, parsed);
    const wanted = { most: MAX_COUNTED + 1, offset: 0, isByRank: true };
    let counted = NONE;
    for await (const { candidates, isAll, isExact } of attempts(many, index, parsed, resolved, wanted, shown)) {
      const [row] = await many<HitCounts>({
        candidates,
        found: sql`
          select p.page_id, p.created_by, p.status, split_part(p.path, '/', 1) as folder
          from ${candidateDocuments(index)}
          where ${shown.isFound} limit ${MAX_COUNTED + 1}`,
        authors: sql`
          select f.created_by as user_id, count(*)::int as count from found f group by 1 order by 2 desc, 1 limit ${MAX_NAMED}`,
        folders: sql`
          select f.folder as path, count(*)::int as count from found f group by 1 order by 2 desc, 1 limit ${MAX_NAMED}`,
        tags: sql`
          select min(g.tag) as tag, count(*)::int as count
          from found f join page_tags g on g.wiki_id = ${wiki_id} and g.page_id = f.page_id
          group by g.tag_key order by 2 desc, g.tag_key limit ${MAX_NAMED}`,
        statuses: sql`select f.status, count(*)::int as count from found f group by 1 order by 2 desc, 1`,
        result: sql`
          select (select count(*) from found)::int as total,
            coalesce((select json_agg(json_build_object('user_id', a.user_id, 'count', a.count, 'display_name', coalesce((
              select u.display_name from users u where u.user_id = a.user_id and ${hasPermission('members:read')}), '')))
              from authors a), '[]') as authors,
            coalesce((select json_agg(json_build_object('path', f.path, 'count', f.count, 'title', coalesce((
              select p.title from pages p where p.wiki_id = ${wiki_id} and p.path = f.path and ${IS_FOUND} limit 1), f.path)))
              from folders f), '[]') as folders,
            coalesce((select json_agg(g.*) from tags g), '[]') as tags,
            coalesce((select json_agg(s.*) from statuses s), '[]') as statuses`,
      });
      if (row)
        counted = { ...row, total: Math.min(row.total, MAX_COUNTED), is_exact: isExact && row.total <= MAX_COUNTED };
      if (isAll || (row?.total ?? 0) > MAX_COUNTED) break;
    }
    return counted;
  },
});
