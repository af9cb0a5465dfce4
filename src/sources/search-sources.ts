import { Type } from 'typebox';
import { raw, sql } from '../db/sql.ts';
import { onWiki } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { parseQuery, SearchQuery } from '../search/parse-query.ts';
import { scoreWithTitle, searchIndex } from '../search/search.ts';
import { bestPassage, PASSAGE_CHARACTERS } from '../search/snippet.ts';
import { WikiParams } from '../wikis/schema.ts';
import { exampleSource, type Source, SourceHit, sourceColumns } from './schema.ts';

interface HitRow extends Source {
  score: number;
  text: string;
  /** Where the blocks of a source that has pages begin, by the pages of the wiki that show them; null for others. */
  blocks: { starts: number[]; pages: number[] }[] | null;
}

export const searchSources = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/search',
  summary: 'Search sources',
  description:
    'Best first: sources that hold any of the words, all of the phrases and none of the excluded words. `locator` is the ' +
    "page of the passage (`page:3`) where the source has pages, else where it begins in the source's text (`offset:1204`).",
  access: onWiki('sources:read'),
  limit: 'search',
  params: WikiParams,
  query: SearchQuery,
  reply: Type.Array(SourceHit),
  example: {
    reply: [{ ...exampleSource, score: 0.72, snippet: 'How to <mark>install</mark> Acme.', locator: 'offset:7' }],
  },
  run: async ({ params: { wiki_id }, query, many }) => {
    const parsed = parseQuery(query.query);
    const { rows, terms } = await searchIndex<HitRow>(many, { wiki_id, kind: 'source' }, parsed, query, {
      isVisible: raw('true'),
      steps: {
        hits: sql`
            select ${sourceColumns}, ${scoreWithTitle(sql`s.title`, parsed.text)} as score
            from candidates c join sources s on s.wiki_id = ${wiki_id} and s.source_id = c.id
            order by score desc, s.source_id limit ${query.limit} offset ${query.offset}`,
        result: sql`
            select h.*, left(t.text, ${PASSAGE_CHARACTERS}) as text,
              (select json_agg(json_build_object('starts', c.starts, 'pages', c.first_pages)) from page_sources c
                where c.wiki_id = ${wiki_id} and c.source_id = h.source_id and c.first_pages <> '{}') as blocks
            from hits h
            join source_texts t on t.wiki_id = ${wiki_id} and t.source_id = h.source_id
            order by h.score desc, h.source_id`,
      },
    });
    return rows.map(({ text, blocks, ...source }) => {
      const { snippet, offset } = bestPassage(text, terms);
      const page = pageAt(blocks ?? [], offset);
      return { ...source, snippet, locator: page === undefined ? `offset:${offset}` : `page:${page}` };
    });
  },
});

/** The page of the source on which the last block begins that begins at or before a place of its text. */
function pageAt(blocks: readonly { starts: number[]; pages: number[] }[], offset: number): number | undefined {
  let last = -1;
  let page: number | undefined;
  for (const { starts, pages } of blocks) {
    for (const [i, start] of starts.entries()) if (start <= offset && start > last) [last, page] = [start, pages[i]];
  }
  return page;
}
