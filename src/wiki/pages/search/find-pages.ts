import { type Static, type TObject, Type } from 'typebox';
import type { Credential } from '../../../platform/access/credential.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { arrayText, raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { ListPage } from '../../../platform/http/list-paging.ts';
import type { Index } from '../../search/index/pending.ts';
import { candidateDocuments, PENDING_NO } from '../../search/query/candidates.ts';
import { findPassages, hitTextColumns, MAX_MORE_CHARACTERS } from '../../search/query/passages.ts';
import type { Hits } from '../../search/query/search.ts';
import {
  type HitsPart,
  orderOfHits,
  readRequest,
  SearchQuery,
  selectHits,
  sortColumns,
} from '../../search/query/search-parameters.ts';
import { headingAt } from '../../search/query/snippet.ts';
import { pageColumns } from '../schema.ts';
import { type AnsweredRow, type HitRow, knownTexts, withKnownTexts } from './known-texts.ts';
import { shownPages } from './page-filters.ts';

/** The filters of page searches only. */
export const PAGE_FILTERS = {
  in: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: 'The path or page_id of a page: only this page and the pages below it.',
    }),
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_024, description: 'Only pages with this tag, ignoring case.' }),
  ),
  status: Type.Optional(
    Type.Enum(['draft', 'published', 'archived'], {
      description: 'Only pages with this status. Drafts are found only if the caller may write.',
    }),
  ),
};

export const PAGE_SEARCH = { ...SearchQuery.properties, ...PAGE_FILTERS };

/** Parses the parameters of a page search. Returns them with the statement that selects its hits. */
export function readPageSearch(
  wiki_id: string,
  query: Static<TObject<typeof PAGE_SEARCH>>,
  paging: ListPage,
  credential: Credential,
) {
  const index: Index = { wiki_id, kind: 'page' };
  const { parsed, sort, part } = readRequest(query, paging, credential);
  const shown = shownPages(wiki_id, parsed.filters);
  const score = raw('c.score');
  let known: ReturnType<typeof knownTexts> = new Map();
  const show = (hitsPart: HitsPart): Record<string, Sql> => {
    known = knownTexts(wiki_id, hitsPart.best ?? []);
    const isNumbered = hitsPart.best !== undefined;
    return {
      hits: selectHits(
        sql`
          select ${pageColumns}, ${score} as score, ${sortColumns(sort, 'p', score)},
            case when ${isNumbered} and c.no < ${PENDING_NO} then c.no end as document_no
          from ${candidateDocuments(index)}
          where ${shown.isFound}`,
        paging,
        sort,
        query.limit,
        hitsPart,
      ),
      known: sql`
        select * from unnest(${[...known.keys()]}::text[], ${arrayText([...known.values()].map(({ revision }) => revision))}::int[])
          k (page_id, revision)`,
      result: sql`
        select h.*, t.*, r.outline
        from hits h
        left join known k on k.page_id = h.page_id and k.revision = h.revision
        left join lateral (
          select ${hitTextColumns} from page_texts t
          where k.page_id is null and t.wiki_id = ${wiki_id} and t.page_id = h.page_id offset 0) t on true
        left join lateral (
          select r.outline from revisions r
          where k.page_id is null and r.wiki_id = ${wiki_id} and r.page_id = h.page_id and r.revision = h.revision offset 0) r on true
        order by ${orderOfHits(sort)}`,
    };
  };
  const complete = (rows: AnsweredRow[]) => withKnownTexts(rows, known);
  return { index, parsed, part, shown, show, complete };
}

/** Adds the passage and its heading to each hit. */
export async function withPassages(
  many: Statements['many'],
  { index, shown }: Pick<ReturnType<typeof readPageSearch>, 'index' | 'shown'>,
  hits: Hits<HitRow>,
) {
  const found = await findPassages(
    hits,
    ({ page_id }) => page_id,
    (ids) =>
      many(sql`
        select * from (
          select t.page_id as id, t.text, sum(length(t.text)) over (order by t.page_id) as characters
          from page_texts t join pages p on p.wiki_id = t.wiki_id and p.page_id = t.page_id
          where t.wiki_id = ${index.wiki_id} and t.page_id = any (${ids}::text[]) and ${shown.isFound}) r
        where r.characters - length(r.text) < ${MAX_MORE_CHARACTERS}`),
  );
  return found.map(({ outline, offset, ...page }) => ({ ...page, ...headingAt(outline, offset) }));
}
