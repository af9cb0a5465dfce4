import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import type { Statements } from '../../platform/access/guard.ts';
import { Paging } from '../../platform/core/paging.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { listOfPage } from '../../wiki/pages/list-of-page.ts';
import { PageParams } from '../../wiki/pages/schema.ts';
import { type CitationRow, type CitedBlock, citationColumns, citedBlocks, meantIn, placesBy } from './cited-blocks.ts';
import { Citation, exampleSource } from './schema.ts';
import { changesOf, compareBlocks, readShownPage, type ShownBlock } from './shown-blocks.ts';

/** Total length of the texts that one answer may diff, in UTF-16 units. */
const COMPARED_MAX = 100_000;

/** Reads only the passages of the page's blocks. A page has one source or a few. */
export const listCitations = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/citations',
  summary: "List a page's citations",
  description:
    'Returns the place in its source for each block of a page as compiled, and whether the page still shows it. Only if `verified` is true does the page still say the same as the source. Bold, line breaks and the order of blocks may differ; words, header cells, notes, images and link addresses may not. `context` tells whether the block is also in the same context. Text written by people has no citation.',
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
        boxes: null,
        first_line: 3,
        last_line: 3,
        first_paragraph: 0,
        last_paragraph: 0,
        chapter: 0,
        quote: 'How to install Acme.',
        sha256: '5a7dcb2d4d6d2a0d0f3b6d2f8f7c9a3f4e1b2c3d4e5f60718293a4b5c6d7e8f9',
        verified: true,
        source_matches: true,
        shown: 'unchanged',
        context: 'same',
        context_changes: [],
        page_block: 1,
        changes: [],
      },
    ],
  },
  run: async ({ params, query, paging, many }) => {
    const [source_id = '', block = 0] = paging.after ?? [];
    const rows = await listOfPage<SourceRow>(
      many,
      params,
      sql`select ${citationColumns}, s.title, s.filename, s.content_type, c.first, r.folder,
          case when row_number() over (order by c.source_id) = 1 then r.html end as html,
          substring(t.text from c.first + 1 for c.last - c.first) as passage
        from (
          select c.*, (select coalesce(min(start), 0) from unnest(c.starts) start) as first,
            (select coalesce(max("end"), 0) from unnest(c.ends) "end") as last
          from page_sources c
          where c.wiki_id = p.wiki_id and c.page_id = p.page_id and c.source_id >= ${source_id} offset 0) c
        join sources s on s.wiki_id = c.wiki_id and s.source_id = c.source_id
        join source_texts t on t.wiki_id = c.wiki_id and t.source_id = c.source_id
        join revisions r on r.wiki_id = c.wiki_id and r.page_id = c.page_id and r.revision = p.revision
        order by c.source_id`,
    );
    const cited = new Map(rows.map((row) => [row.source_id, citedBlocks(row, row.passage, row.first)]));
    // PostgreSQL counts characters, but ranges are in UTF-16 units: an emoji before the passage shifts it. Retry with
    // the whole text.
    const moved = rows.filter((row) => cited.get(row.source_id)?.some(({ source_matches }) => !source_matches));
    const texts = await textsOf(
      many,
      params,
      moved.map((row) => row.source_id),
    );
    for (const row of moved) cited.set(row.source_id, citedBlocks(row, texts.get(row.source_id) ?? ''));
    const page = readShownPage(rows[0]?.html ?? '', rows[0]?.folder);
    const citations = rows.flatMap(({ source_id, title, filename, content_type, meant }) => {
      const blocks = cited.get(source_id) ?? [];
      const shown = compareBlocks(blocks, page, meantIn({ meant }));
      return blocks.map((block, i) => ({
        block: { ...block, ...placesBy(content_type, block) },
        shown: shown[i] as ShownBlock,
        source: { source_id, title, filename },
      }));
    });
    const rest = citations.filter((each) => each.source.source_id !== source_id || each.block.block > Number(block));
    const budget = { characters: COMPARED_MAX };
    return rest
      .slice(query.offset, query.offset + query.limit)
      .map(({ block, shown, source }) => ({ ...source, ...citationOf(block, shown, budget) }));
  },
});

type PlacedBlock = CitedBlock & ReturnType<typeof placesBy>;

/** Formats a compiled block and its current state for the API. */
function citationOf(
  { form_sha256, context, targets, ...cited }: PlacedBlock,
  { shown, block, context: changed }: ShownBlock,
  budget: { characters: number },
): Omit<Citation, 'source_id' | 'title' | 'filename'> {
  return {
    ...cited,
    verified: cited.source_matches && shown === 'unchanged',
    shown,
    context: shown !== 'unchanged' || context === '' ? 'unknown' : changed.length > 0 ? 'changed' : 'same',
    context_changes: changed,
    page_block: block?.element ?? -1,
    changes: shown === 'edited' && block ? changesOf(cited.quote, block, budget) : [],
  };
}

interface SourceRow extends CitationRow {
  title: string;
  filename: string;
  content_type: string;
  /** The folder that relative links start from. */
  folder: string;
  /** The HTML of the page; null except in the first row. */
  html: string | null;
  /** The offset of the first block. */
  first: number;
  passage: string;
}

/** Returns the whole texts of the given sources of a page. */
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
