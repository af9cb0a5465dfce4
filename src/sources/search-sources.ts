import { Type } from 'typebox';
import { raw, sql } from '../db/sql.ts';
import { onWiki } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { parseQuery, SearchQuery } from '../search/parse-query.ts';
import { scoreWithTitle, searchIndex } from '../search/search.ts';
import { bestPassage, PASSAGE_CHARACTERS } from '../search/snippet.ts';
import { WikiParams } from '../wikis/schema.ts';
import { exampleSource, type Source, SourceHit, sourceColumns } from './schema.ts';

export const searchSources = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/search',
  summary: 'Search sources',
  description: 'Best first: sources that hold any of the words, all of the phrases and none of the excluded words.',
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
    const { rows, terms } = await searchIndex<Source & { score: number; text: string }>(
      many,
      { wiki_id, kind: 'source' },
      parsed,
      query,
      {
        isVisible: raw('true'),
        steps: {
          hits: sql`
            select ${sourceColumns}, ${scoreWithTitle(sql`s.title`, parsed.text)} as score
            from candidates c join sources s on s.wiki_id = ${wiki_id} and s.source_id = c.id
            order by score desc, s.source_id limit ${query.limit} offset ${query.offset}`,
          result: sql`
            select h.*, left(t.text, ${PASSAGE_CHARACTERS}) as text
            from hits h
            join source_texts t on t.wiki_id = ${wiki_id} and t.source_id = h.source_id
            order by h.score desc, h.source_id`,
        },
      },
    );
    return rows.map(({ text, ...source }) => {
      const { snippet, offset } = bestPassage(text, terms);
      return { ...source, snippet, locator: `offset:${offset}` };
    });
  },
});
