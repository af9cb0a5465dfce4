import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { WikiParams } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { parseQuery, SearchQuery } from '../search/query/parse-query.ts';
import { scoreWithTitle, searchIndex } from '../search/query/search.ts';
import { bestPassage, headingAt, PASSAGE_CHARACTERS } from '../search/query/snippet.ts';
import { examplePage, IS_FOUND, type Page, PageHit, pageColumns } from './schema.ts';

interface HitRow extends Page {
  score: number;
  text: string;
  outline: { text: string; anchor: string; offset: number }[];
}

export const searchPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/search',
  summary: 'Search pages',
  description: 'Best first: pages that hold any of the words, all of the phrases and none of the excluded words.',
  access: onWiki('pages:read'),
  canWait: true,
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
  run: async ({ params: { wiki_id }, query, many }) => {
    const parsed = parseQuery(query.query);
    const { rows, terms } = await searchIndex<HitRow>(many, { wiki_id, kind: 'page' }, parsed, query, {
      isVisible: IS_FOUND,
      steps: {
        hits: sql`
          select ${pageColumns}, ${scoreWithTitle(sql`p.title`, parsed.text)} as score
          from candidates c join pages p on p.wiki_id = ${wiki_id} and p.page_id = c.id
          where ${IS_FOUND}
          order by score desc, p.page_id limit ${query.limit} offset ${query.offset}`,
        result: sql`
          select h.*, left(t.text, ${PASSAGE_CHARACTERS}) as text, r.outline
          from hits h
          join page_texts t on t.wiki_id = ${wiki_id} and t.page_id = h.page_id
          join revisions r on r.wiki_id = ${wiki_id} and r.page_id = h.page_id and r.revision = h.revision
          order by h.score desc, h.page_id`,
      },
    });
    return rows.map(({ text, outline, ...page }) => {
      const { snippet, offset } = bestPassage(text, terms);
      return { ...page, snippet, ...headingAt(outline, offset) };
    });
  },
});
