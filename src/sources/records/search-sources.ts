import { lineEndsIn } from '@ibid/markdown/plain-text.ts';
import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { namedPeople } from '../../platform/access/people.ts';
import { WikiParams } from '../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { candidateDocuments } from '../../wiki/search/query/candidates.ts';
import { conditionsOf, type FilterConditions } from '../../wiki/search/query/filter-conditions.ts';
import {
  findPassages,
  type HitText,
  hitTextColumns,
  MAX_MORE_CHARACTERS,
  PASSAGE_CHARACTERS,
} from '../../wiki/search/query/passages.ts';
import { searchIndex } from '../../wiki/search/query/search.ts';
import {
  CUT_HEADER,
  cutHeader,
  orderOfHits,
  readRequest,
  SEARCH_ORDER,
  SearchQuery,
  selectHits,
  sortColumns,
} from '../../wiki/search/query/search-parameters.ts';
import { NO_DOCUMENTS } from '../../wiki/search/query/shown-documents.ts';
import { type CitationRow, placesBy } from './cited-blocks.ts';
import { exampleSource, type Source, SourceHit, sourceColumns } from './schema.ts';

interface HitRow extends Source, HitText {
  score: number;
  /** Block offsets of the pages that show this source; null if the source has neither pages nor lines. */
  blocks: PlacedBlocks[] | null;
}

export const searchSources = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/search',
  summary: 'Search sources',
  description:
    'Best first: sources that contain any of the words and match all filters. `locator` is the ' +
    'page of the passage (`page:3`) or the line of the file (`line:12`). For sources without pages and lines, it is ' +
    "the start of the passage in the source's text (`offset:1204`).",
  access: onWiki('sources:read'),
  canWait: true,
  isHeavy: true,
  limit: 'search',
  params: WikiParams,
  query: SearchQuery,
  paging: SEARCH_ORDER,
  replyHeaders: CUT_HEADER,
  reply: Type.Array(SourceHit),
  example: {
    reply: [{ ...exampleSource, score: 0.72, snippet: 'How to <mark>install</mark> Acme.', locator: 'line:3' }],
  },
  run: async ({ params: { wiki_id }, query, paging, credential, many, setHeaders }) => {
    setHeaders(cutHeader(query.query));
    const { parsed, sort, part } = readRequest(query, paging, credential);
    const isFound = sql`true ${conditionsOf(parsed.filters, 's', CONDITIONS)}`;
    const shown = { isFound, isFiltered: parsed.filters.length > 0, leftOut: NO_DOCUMENTS };
    const score = raw('c.score');
    const hits = await searchIndex<HitRow>(many, { wiki_id, kind: 'source' }, parsed, part, shown, (hitsPart) => ({
      hits: selectHits(
        sql`
          select ${sourceColumns}, ${score} as score, ${sortColumns(sort, 's', score)}
          from ${candidateDocuments({ wiki_id, kind: 'source' })}
          where ${isFound}`,
        paging,
        sort,
        query.limit,
        hitsPart,
      ),
      result: sql`
        select h.*, t.*, ${blocksOf(wiki_id, sql`h.source_id`, PASSAGE_CHARACTERS)} as blocks
        from hits h
        cross join lateral (
          select ${hitTextColumns} from source_texts t where t.wiki_id = ${wiki_id} and t.source_id = h.source_id offset 0) t
        order by ${orderOfHits(sort)}`,
    }));
    const found = await findPassages(
      hits,
      ({ source_id }) => source_id,
      (ids) =>
        many(sql`
          select r.id, r.text, ${blocksOf(wiki_id, sql`r.id`, MAX_MORE_CHARACTERS)} as blocks from (
            select t.source_id as id, t.text, sum(length(t.text)) over (order by t.source_id) as characters
            from source_texts t where t.wiki_id = ${wiki_id} and t.source_id = any (${ids}::text[])) r
          where r.characters - length(r.text) < ${MAX_MORE_CHARACTERS}`),
    );
    return found.map(({ text, blocks, offset, ...source }) => ({
      ...source,
      locator: locatorOf(blocks ?? [], source.content_type, text, offset),
    }));
  },
});

const CONDITIONS: FilterConditions = {
  path: (parts) => sql`exists (
    select from unnest(${parts.map((part) => part.toLowerCase())}::text[]) w (part)
    where position(w.part in folded(s.filename)) > 0)`,
  author: (authors) => sql`s.upload_id in (
    select u.upload_id from uploads u where u.wiki_id = s.wiki_id and u.created_by in (${namedPeople(authors)}))`,
  type: (types) => sql`'source' = any (${types}::text[])`,
};

/**
 * Selects the block offsets of pages that cite the source, limited to pages whose first block starts within `most`
 * characters.
 */
function blocksOf(wiki_id: string, source_id: Sql, most: number): Sql {
  return sql`(
    select json_agg(json_build_object('starts', c.starts, 'first_pages', c.first_pages, 'first_lines', c.first_lines,
      'last_lines', c.last_lines))
    from page_sources c
    where c.wiki_id = ${wiki_id} and c.source_id = ${source_id} and c.starts[1] < ${most}
      and (c.first_pages <> '{}' or c.first_lines <> '{}'))`;
}

type PlacedBlocks = Pick<CitationRow, 'starts' | 'first_pages' | 'first_lines' | 'last_lines'>;

function placeOf({ last_line, first_paragraph, chapter }: ReturnType<typeof placesBy>): string {
  if (chapter > 0) return `chapter:${chapter}`;
  return first_paragraph > 0 ? `paragraph:${first_paragraph}` : `line:${last_line}`;
}

/** Returns the locator of the last block that starts at or before an offset of the source text. */
function locatorOf(blocks: readonly PlacedBlocks[], content_type: string, text: string, offset: number): string {
  let last = -1;
  let locator = `offset:${offset}`;
  for (const { starts, first_pages, first_lines, last_lines } of blocks) {
    for (const [i, start] of starts.entries()) {
      if (start > offset || start <= last) continue;
      last = start;
      const [page = 0, line = 0] = [first_pages[i], first_lines[i]];
      // A file with line numbers may be a single block: name the line of the passage within it.
      const within = line + lineEndsIn(text.slice(start, offset).trimStart());
      const last_line = Math.min(within, last_lines[i] ?? line);
      locator = line > 0 ? placeOf(placesBy(content_type, { first_line: line, last_line })) : `offset:${offset}`;
      if (page > 0) locator = `page:${page}`;
    }
  }
  return locator;
}
