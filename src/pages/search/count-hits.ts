import { Type } from 'typebox';
import { hasPermission, onWiki } from '../../access/access-rule.ts';
import { subjectOf } from '../../access/credential.ts';
import { WikiParams } from '../../core/records.ts';
import { arrayText, type Sql, sql } from '../../db/sql.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Index } from '../../search/index/pending.ts';
import { type Attempt, attempts } from '../../search/query/attempts.ts';
import { candidateDocuments, candidatesCte } from '../../search/query/candidates.ts';
import type { Candidate } from '../../search/query/rank.ts';
import { readConfirmed, resolvedFor } from '../../search/query/search.ts';
import { CUT_HEADER, cutHeader, readSearch, SEARCHED } from '../../search/query/search-parameters.ts';
import type { Shown } from '../../search/query/shown-documents.ts';
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
  query: Type.Object({
    ...SEARCHED,
    ...PAGE_FILTERS,
    of: Type.Integer({
      minimum: 1,
      maximum: MAX_COUNTED,
      default: MAX_COUNTED,
      description: 'Of how many of the best hits authors, folders, tags and statuses are counted. The total is of all.',
    }),
  }),
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
  run: async ({ params: { wiki_id }, query, credential, many, setHeaders }) => {
    setHeaders(cutHeader(query.query));
    const parsed = readSearch(query);
    const shown = shownPages(parsed.filters);
    const index = { wiki_id, kind: 'page' } as const;
    const wanted = { most: MAX_COUNTED + 1, offset: 0, isByRank: true };
    return resolvedFor(many, index, parsed, subjectOf(credential).join(' '), async (resolved) => {
      let counted: HitCounts | undefined = resolved.isRecalled ? undefined : NONE;
      for await (const attempt of attempts(many, index, parsed, resolved, wanted, shown)) {
        const statement = countingSteps(index, attempt, shown, query.of);
        const rows = await readConfirmed<HitCounts>(many, index, statement, resolved);
        if (rows === undefined) return undefined;
        const [{ total, authors, folders, tags, statuses } = NONE] = rows;
        const isExact = attempt.isExact && total <= MAX_COUNTED;
        counted = { total: Math.min(total, MAX_COUNTED), is_exact: isExact, authors, folders, tags, statuses };
        if (attempt.isAll || total > MAX_COUNTED) break;
      }
      return counted;
    });
  },
});

/**
 * Counts the candidates of an attempt. Of the best ones their pages are read; the others are counted if they are not among those
 * that are hidden from the caller, which are few, since to read a thousand pages costs more than the search. With filters all
 * pages are read.
 */
function countingSteps(
  index: Index,
  { best, candidates }: Attempt,
  { isFound, isFiltered, isHidden }: Shown,
  of: number,
): Record<string, Sql> {
  const { wiki_id, kind } = index;
  // A page that waits to be merged has no number.
  const isNamed = ({ document_no }: Candidate, i: number) => i < of || document_no < 0;
  const areNamed = best !== undefined && !isFiltered;
  const others = areNamed ? best.filter((one, i) => !isNamed(one, i)) : [];
  return {
    candidates: areNamed ? candidatesCte(index, best.filter(isNamed)) : candidates,
    found: sql`
      select p.page_id, p.created_by, p.status, p.tags, split_part(p.path, '/', 1) as folder
      from ${candidateDocuments(index)}
      where ${isFound} limit ${MAX_COUNTED + 1}`,
    others: sql`
      select count(*)::int as count from unnest(${arrayText(others.map(({ document_no }) => document_no))}::int[]) o (no)
      where o.no not in (
        select d.document_no from pages p
        join search_documents d on d.wiki_id = ${wiki_id} and d.kind = ${kind} and d.document_id = p.page_id
        where ${others.length > 0} and p.wiki_id = ${wiki_id} and ${isHidden} and d.document_no is not null)`,
    authors: sql`
      select f.created_by as user_id, count(*)::int as count from found f group by 1 order by 2 desc, 1 limit ${MAX_NAMED}`,
    folders: sql`
      select f.folder as path, count(*)::int as count from found f group by 1 order by 2 desc, 1 limit ${MAX_NAMED}`,
    // As page_tags has them, without a look for each page: most have none.
    tags: sql`
      select min(g.tag) as tag, count(distinct f.page_id)::int as count
      from found f cross join lateral unnest(f.tags) g (tag)
      group by lower(g.tag) order by 2 desc, lower(g.tag) collate "C" limit ${MAX_NAMED}`,
    statuses: sql`select f.status, count(*)::int as count from found f group by 1 order by 2 desc, 1`,
    result: sql`
      select (select count(*) from found)::int + (select o.count from others o) as total,
        coalesce((select json_agg(json_build_object('user_id', a.user_id, 'count', a.count, 'display_name', coalesce((
          select u.display_name from users u where u.user_id = a.user_id and ${hasPermission('members:read')}), '')))
          from authors a), '[]') as authors,
        coalesce((select json_agg(json_build_object('path', f.path, 'count', f.count, 'title', coalesce((
          select p.title from pages p where p.wiki_id = ${wiki_id} and p.path = f.path and ${IS_FOUND} limit 1), f.path)))
          from folders f), '[]') as folders,
        coalesce((select json_agg(g.*) from tags g), '[]') as tags,
        coalesce((select json_agg(s.*) from statuses s), '[]') as statuses`,
  };
}
