import { Type } from 'typebox';
import { sql } from '../db/sql.ts';
import { holds, onWiki } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { SearchQuery, searchSteps } from '../search/query.ts';
import { beforeColumn, headingAt, headlineColumn, snippetHtml } from '../search/snippet.ts';
import { WikiParams } from '../wikis/schema.ts';
import { examplePage, type Page, PageHit, pageColumns } from './schema.ts';

/** Searches find what is published, and drafts for those who may write. */
const HIDDEN = sql`(p.trashed_at is not null or p.status = 'archived'
  or (p.status = 'draft' and not ${holds('pages:write')}))`;

interface HitRow extends Page {
  score: number;
  headline: string;
  before: string;
  outline: { text: string; anchor: string; offset: number }[];
}

export const searchPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/search',
  summary: 'Search pages',
  description: 'Best first: pages that hold any of the words, all of the phrases and none of the excluded words.',
  access: onWiki('pages:read'),
  limit: 'search',
  params: WikiParams,
  query: SearchQuery,
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
  run: async ({ params, query, many }) => {
    const rows = await many<HitRow>({
      ...searchSteps('page', params.wiki_id, query, HIDDEN),
      result: sql`
        select ${pageColumns}, hits.score, h.headline, ${beforeColumn} as before, r.outline
        from hits
        cross join asked a
        join pages p on p.wiki_id = ${params.wiki_id} and p.page_id = hits.id
        join page_texts t on t.wiki_id = p.wiki_id and t.page_id = p.page_id
        join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
        cross join lateral (select ${headlineColumn} as headline) h
        order by hits.score desc, hits.id`,
    });
    return rows.map(({ headline, before, outline, ...page }) => ({
      ...page,
      snippet: snippetHtml(headline),
      ...headingAt(outline, before.length + Math.max(headline.indexOf('\u0002'), 0)),
    }));
  },
});
