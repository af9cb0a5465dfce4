import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { Paging } from '../core/paging.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { listOfPage } from '../pages/list-of-page.ts';
import { PageParams } from '../pages/schema.ts';
import { type CitationRow, citationColumns, citedBlocks, shownBlocks } from './cited-blocks.ts';
import { Citation, exampleSource } from './schema.ts';

/** A page is made of one source or a few, so their texts are read whole, as the page itself is. */
export const listCitations = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/citations',
  summary: "List a page's citations",
  description:
    'For each block of a compiled page the place in its source that it shows. Blocks that people have changed or written themselves are theirs, and have none.',
  access: onWiki('pages:read'),
  params: PageParams,
  query: Paging,
  paging: { keys: { 'c.source_id': 'text', block: 'integer' } },
  reply: Type.Array(Citation),
  example: {
    reply: [
      {
        block: 1,
        source_id: exampleSource.source_id,
        title: exampleSource.title,
        filename: exampleSource.filename,
        start: 6,
        end: 26,
        first_page: 0,
        last_page: 0,
        first_line: 3,
        last_line: 3,
        quote: 'How to install Acme.',
        sha256: '5a7dcb2d4d6d2a0d0f3b6d2f8f7c9a3f4e1b2c3d4e5f60718293a4b5c6d7e8f9',
        verified: true,
      },
    ],
  },
  run: async ({ params, query, paging, many }) => {
    const [source_id = '', block = 0] = paging.after ?? [];
    const rows = await listOfPage<
      CitationRow & { title: string; filename: string; source_text: string; page_text: string }
    >(
      many,
      params,
      sql`select ${citationColumns}, s.title, s.filename, t.text as source_text, x.text as page_text
        from page_sources c
        join sources s on s.wiki_id = c.wiki_id and s.source_id = c.source_id
        join source_texts t on t.wiki_id = c.wiki_id and t.source_id = c.source_id
        join page_texts x on x.wiki_id = c.wiki_id and x.page_id = c.page_id
        where c.wiki_id = p.wiki_id and c.page_id = p.page_id and c.source_id >= ${source_id}
        order by c.source_id`,
    );
    const citations = rows.flatMap(({ title, filename, source_text, page_text, ...row }) =>
      shownBlocks(citedBlocks(row, source_text), page_text).map((block) => ({
        ...block,
        source_id: row.source_id,
        title,
        filename,
      })),
    );
    const rest = citations.filter((citation) => citation.source_id !== source_id || citation.block > Number(block));
    return rest.slice(query.offset, query.offset + query.limit);
  },
});
