import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import type { Statements } from '../access/guard.ts';
import { Paging } from '../core/paging.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { listOfPage } from '../pages/list-of-page.ts';
import { PageParams } from '../pages/schema.ts';
import { type CitationRow, citationColumns, citedBlocks, shownBlocks } from './cited-blocks.ts';
import { Citation, exampleSource } from './schema.ts';

/** A page is made of one source or a few; of each is read the part that the page's blocks lie in. */
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
    const rows = await listOfPage<SourceRow>(
      many,
      params,
      sql`select ${citationColumns}, s.title, s.filename, c.first, x.text as page_text,
          substring(t.text from c.first + 1 for c.last - c.first) as passage
        from (
          select c.*, (select coalesce(min(start), 0) from unnest(c.starts) start) as first,
            (select coalesce(max("end"), 0) from unnest(c.ends) "end") as last
          from page_sources c
          where c.wiki_id = p.wiki_id and c.page_id = p.page_id and c.source_id >= ${source_id} offset 0) c
        join sources s on s.wiki_id = c.wiki_id and s.source_id = c.source_id
        join source_texts t on t.wiki_id = c.wiki_id and t.source_id = c.source_id
        join page_texts x on x.wiki_id = c.wiki_id and x.page_id = c.page_id
        order by c.source_id`,
    );
    const cited = new Map(rows.map((row) => [row.source_id, citedBlocks(row, row.passage, row.first)]));
    // The database counts characters where places are UTF-16 units: behind an emoji, for one, its passage is another.
    const moved = rows.filter((row) => cited.get(row.source_id)?.some(({ verified }) => !verified));
    const texts = await textsOf(
      many,
      params,
      moved.map((row) => row.source_id),
    );
    for (const row of moved) cited.set(row.source_id, citedBlocks(row, texts.get(row.source_id) ?? ''));
    const citations = rows.flatMap(({ source_id, title, filename, page_text }) =>
      shownBlocks(cited.get(source_id) ?? [], page_text).map((block) => ({ ...block, source_id, title, filename })),
    );
    const rest = citations.filter((citation) => citation.source_id !== source_id || citation.block > Number(block));
    return rest.slice(query.offset, query.offset + query.limit);
  },
});

interface SourceRow extends CitationRow {
  title: string;
  filename: string;
  page_text: string;
  /** Where its first block begins. */
  first: number;
  passage: string;
}

/** The whole texts of these sources of a page. */
async function textsOf(
  many: Statements['many'],
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
  source_ids: readonly string[],
): Promise<Map<string, string>> {
  if (source_ids.length === 0) return new Map();
  const rows = await many<{ source_id: string; text: string }>(sql`
    select c.source_id, t.text from page_sources c
    join source_texts t on t.wiki_id = c.wiki_id and t.source_id = c.source_id
    where c.wiki_id = ${wiki_id} and c.page_id = ${page_id} and c.source_id = any (${source_ids}::text[])`);
  return new Map(rows.map(({ source_id, text }) => [source_id, text]));
}
