import { setImmediate as nextTurn } from 'node:timers/promises';
import { countCharacters } from '@ibid/documents/formats/losses.ts';
import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import type { Statements } from '../../platform/access/guard.ts';
import { Id, Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import {
  type CitationRow,
  type CitedBlock,
  citationColumns,
  citedBlocks,
  gapsBetween,
  meantIn,
} from './cited-blocks.ts';
import { exampleSource, SourceLoss, SourceParams } from './schema.ts';
import { compareBlocks, readShownPage } from './shown-blocks.ts';

/** Maximum length of the excerpt of an uncovered range, in characters. */
const EXCERPT = 200;

/** Pages per query: a long document has hundreds. */
const PAGES_AT_ONCE = 20;

const Coverage = Record(
  {
    source_id: Id,
    length: Type.Integer({ description: "Length of the source's text, in UTF-16 units." }),
    covered: Type.Integer({
      description: 'Length of the text that pages show, in UTF-16 units. Line breaks between blocks count as shown.',
    }),
    uncovered: Type.Array(
      Record(
        { start: Type.Integer(), end: Type.Integer(), excerpt: Type.String({ description: 'Beginning of the part.' }) },
        { title: 'UncoveredPart' },
      ),
      { description: 'The parts that no page shows, in order.' },
    ),
    text_characters: Type.Integer({ description: "Characters of the source's text, without white space." }),
    file_characters: Type.Integer({
      description: "Characters of the file's text, from an independent count; 0 if not counted.",
    }),
    share: Type.Optional(
      Type.Number({
        description: "Share of the file's characters that the text contains, at most 1; absent if not counted.",
      }),
    ),
    losses: Type.Array(SourceLoss, { description: 'Content of the file that the text lacks.' }),
  },
  { title: 'Coverage' },
);

export const getCoverage = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/sources/:source_id/coverage',
  summary: "Get a source's coverage",
  description:
    "How much of the source's text pages show. `losses` lists content of the file that was not read. Drafts and pages in the trash that the caller cannot see do not count, nor do blocks that a person has changed.",
  access: onWiki('sources:read'),
  params: SourceParams,
  reply: Coverage,
  example: {
    reply: {
      source_id: exampleSource.source_id,
      length: 26,
      covered: 26,
      uncovered: [],
      text_characters: 22,
      file_characters: 22,
      share: 1,
      losses: [],
    },
  },
  run: async ({ params, one, many }) => {
    const { text, losses, file_characters } = await one<CoverageRow>(sql`
      select t.text, s.losses, s.file_characters
      from sources s join source_texts t on t.wiki_id = s.wiki_id and t.source_id = s.source_id
      where s.wiki_id = ${params.wiki_id} and s.source_id = ${params.source_id}`);
    const shown = await shownBlocks(many, params, text);
    const gaps = gapsBetween(shown, text.length)
      .map((gap) => trimmed(text, gap))
      .filter(([start, end]) => start < end);
    const text_characters = countCharacters(text);
    return {
      source_id: params.source_id,
      length: text.length,
      covered: text.length - gaps.reduce((sum, [start, end]) => sum + end - start, 0),
      uncovered: gaps.map(([start, end]) => ({
        start,
        end,
        excerpt: text.slice(start, Math.min(end, start + EXCERPT)),
      })),
      text_characters,
      file_characters,
      // Rounded down, so that only a complete text has the share 1.
      ...(file_characters > 0 && {
        share: Math.min(1, Math.floor((10_000 * text_characters) / file_characters) / 10_000),
      }),
      losses,
    };
  },
});

interface CoverageRow {
  text: string;
  losses: SourceLoss[];
  file_characters: number;
}

/** Returns the cited blocks that pages show unchanged. */
async function shownBlocks(
  many: Statements['many'],
  { wiki_id, source_id }: { wiki_id: string; source_id: string },
  text: string,
): Promise<CitedBlock[]> {
  const shown: CitedBlock[] = [];
  for (let after = ''; ; ) {
    const pages = await many<CitationRow & { html: string; folder: string }>(sql`
      select ${citationColumns}, r.html, r.folder from page_sources c
      join pages p on p.wiki_id = c.wiki_id and p.page_id = c.page_id and p.trashed_at is null
      join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision
      where c.wiki_id = ${wiki_id} and c.source_id = ${source_id} and c.page_id > ${after}
      order by c.page_id limit ${PAGES_AT_ONCE}`);
    for (const page of pages) {
      const cited = citedBlocks(page, text);
      await nextTurn();
      const now = compareBlocks(cited, readShownPage(page.html, page.folder), meantIn(page));
      shown.push(...cited.filter((block, i) => block.source_matches && now[i]?.shown === 'unchanged'));
    }
    if (pages.length < PAGES_AT_ONCE) return shown;
    after = pages.at(-1)?.page_id ?? '';
  }
}

function trimmed(text: string, [start, end]: [number, number]): [number, number] {
  const part = text.slice(start, end);
  return [start + part.length - part.trimStart().length, end - part.length + part.trimEnd().length];
}
