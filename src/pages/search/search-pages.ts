import { Type } from 'typebox';
import { onWiki } from '../../access/access-rule.ts';
import { WikiParams } from '../../core/records.ts';
import { raw, sql } from '../../db/sql.ts';
import { endpoint } from '../../http/endpoint.ts';
import { scoredDocuments } from '../../search/query/candidates.ts';
import { findPassages, type HitText, hitTextColumns, MAX_MORE_CHARACTERS } from '../../search/query/passages.ts';
import { searchIndex } from '../../search/query/search.ts';
import {
  CUT_HEADER,
  cutHeader,
  hitsOfPart,
  orderOfHits,
  readRequest,
  SEARCH_ORDER,
  SearchQuery,
  sortColumns,
} from '../../search/query/search-parameters.ts';
import { headingAt } from '../../search/query/snippet.ts';
import { examplePage, type Page, pageColumns } from '../schema.ts';
import { shownPages } from './page-filters.ts';
import { PageHit } from './schema.ts';

interface HitRow extends Page, HitText {
  score: number;
  outline: { text: string; anchor: string; offset: number }[];
}

/** What narrows a search of pages beside what narrows every search. */
export const PAGE_FILTERS = {
  in: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: 'The path or page_id of a page: it and what is below it.',
    }),
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_024, description: 'A tag that the page has, without regard to case.' }),
  ),
  status: Type.Optional(
    Type.Enum(['draft', 'published', 'archived'], { description: 'Only these; drafts for those who may write.' }),
  ),
};

export const searchPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/search',
  summary: 'Search pages',
  description:
    'Best first: pages that contain any of the words and meet what narrows the search. A query without words, such as ' +
    '`author:ada`, lists all pages that meet it, those first that were changed last.',
  access: onWiki('pages:read'),
  canWait: true,
  isHeavy: true,
  limit: 'search',
  params: WikiParams,
  query: Type.Object({ ...SearchQuery.properties, ...PAGE_FILTERS }),
  paging: SEARCH_ORDER,
  replyHeaders: CUT_HEADER,
  reply: Type.Array(PageHit),
  example: {
    reply: [
      {
        ...examplePage,
        score: 0.72,
        snippet: 'How to <mark>install</mark> Acme.',
        heading: 'Setup',
        anchor: 'h-setup',
      },
    ],
  },
  run: async ({ params: { wiki_id }, query, paging, credential, many, setHeaders }) => {
    setHeaders(cutHeader(query.query));
    const { parsed, sort, part } = readRequest(query, paging, credential);
    const shown = shownPages(parsed.filters);
    const score = raw('scored.score');
    const hits = await searchIndex<HitRow>(many, { wiki_id, kind: 'page' }, parsed, part, shown, (hitsPart) => ({
      hits: hitsOfPart(
        sql`
          select ${pageColumns}, ${score} as score, ${sortColumns(sort, 'p', score)}
          from ${scoredDocuments({ wiki_id, kind: 'page' }, parsed.text)}
          where ${shown.isFound}`,
        paging,
        sort,
        query.limit,
        hitsPart,
      ),
      result: sql`
        select h.*, t.*, r.outline
        from hits h
        cross join lateral (
          select ${hitTextColumns} from page_texts t where t.wiki_id = ${wiki_id} and t.page_id = h.page_id offset 0) t
        cross join lateral (
          select r.outline from revisions r
          where r.wiki_id = ${wiki_id} and r.page_id = h.page_id and r.revision = h.revision offset 0) r
        order by ${orderOfHits(sort)}`,
    }));
    const found = await findPassages(
      hits,
      ({ page_id }) => page_id,
      (ids) =>
        many(sql`
          select * from (
            select t.page_id as id, t.text, sum(length(t.text)) over (order by t.page_id) as characters
            from page_texts t join pages p on p.wiki_id = t.wiki_id and p.page_id = t.page_id
            where t.wiki_id = ${wiki_id} and t.page_id = any (${ids}::text[]) and ${shown.isFound}) r
          where r.characters - length(r.text) < ${MAX_MORE_CHARACTERS}`),
    );
    return found.map(({ outline, offset, ...page }) => ({ ...page, ...headingAt(outline, offset) }));
  },
});
