import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { WikiParams } from '../core/records.ts';
import { raw, sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { lineEndsIn } from '../markdown/plain-text.ts';
import { parseQuery, SearchQuery } from '../search/query/parse-query.ts';
import { scoreWithTitle, searchIndex } from '../search/query/search.ts';
import { bestPassage, PASSAGE_CHARACTERS } from '../search/query/snippet.ts';
import type { CitationRow } from './cited-blocks.ts';
import { exampleSource, type Source, SourceHit, sourceColumns } from './schema.ts';

interface HitRow extends Source {
  score: number;
  text: string;
  /** Where the blocks of a source that has pages or lines begin, by the pages of the wiki that show them; null for others. */
  blocks: PlacedBlocks[] | null;
}

export const searchSources = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/search',
  summary: 'Search sources',
  description:
    'Best first: sources that hold any of the words, all of the phrases and none of the excluded words. `locator` is the ' +
    'page of the passage (`page:3`) where the source has pages, the line of the file (`line:12`) where it has lines, else ' +
    "where the passage begins in the source's text (`offset:1204`).",
  access: onWiki('sources:read'),
  canWait: true,
  limit: 'search',
  params: WikiParams,
  query: SearchQuery,
  reply: Type.Array(SourceHit),
  example: {
    reply: [{ ...exampleSource, score: 0.72, snippet: 'How to <mark>install</mark> Acme.', locator: 'line:3' }],
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
              (select json_agg(json_build_object('starts', c.starts, 'first_pages', c.first_pages,
                'first_lines', c.first_lines, 'last_lines', c.last_lines))
                from page_sources c
                where c.wiki_id = ${wiki_id} and c.source_id = h.source_id and c.starts[1] < ${PASSAGE_CHARACTERS}
                  and (c.first_pages <> '{}' or c.first_lines <> '{}')) as blocks
            from hits h
            join source_texts t on t.wiki_id = ${wiki_id} and t.source_id = h.source_id
            order by h.score desc, h.source_id`,
      },
    });
    return rows.map(({ text, blocks, ...source }) => {
      const { snippet, offset } = bestPassage(text, terms);
      return { ...source, snippet, locator: locatorOf(blocks ?? [], text, offset) };
    });
  },
});

type PlacedBlocks = Pick<CitationRow, 'starts' | 'first_pages' | 'first_lines' | 'last_lines'>;

/** Where the block is from in which a place of the source's text is, or which begins before it. */
function locatorOf(blocks: readonly PlacedBlocks[], text: string, offset: number): string {
  let last = -1;
  let locator = `offset:${offset}`;
  for (const { starts, first_pages, first_lines, last_lines } of blocks) {
    for (const [i, start] of starts.entries()) {
      if (start > offset || start <= last) continue;
      last = start;
      const [page = 0, line = 0] = [first_pages[i], first_lines[i]];
      // Of a text that keeps its lines the one is named on which the passage is, as such a text may be one block.
      const within = line + lineEndsIn(text.slice(start, offset).trimStart());
      locator = line > 0 ? `line:${Math.min(within, last_lines[i] ?? line)}` : `offset:${offset}`;
      if (page > 0) locator = `page:${page}`;
    }
  }
  return locator;
}
