import { Type } from 'typebox';
import { sql } from '../db/sql.ts';
import { onWiki } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { SearchQuery, searchSteps } from '../search/query.ts';
import { beforeColumn, headlineColumn, snippetHtml } from '../search/snippet.ts';
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
  run: async ({ params, query, many }) => {
    const rows = await many<Source & { score: number; headline: string; before: string }>({
      ...searchSteps('source', params.wiki_id, query),
      result: sql`
        select ${sourceColumns}, hits.score, h.headline, ${beforeColumn} as before
        from hits
        cross join asked a
        join sources s on s.wiki_id = ${params.wiki_id} and s.source_id = hits.id
        join source_texts t on t.wiki_id = s.wiki_id and t.source_id = s.source_id
        cross join lateral (select ${headlineColumn} as headline) h
        order by hits.score desc, hits.id`,
    });
    return rows.map(({ headline, before, ...source }) => ({
      ...source,
      snippet: snippetHtml(headline),
      locator: `offset:${before.length}`,
    }));
  },
});
