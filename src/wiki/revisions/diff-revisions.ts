import { diffTexts } from '@ibid/markdown/compare/diff-texts.ts';
import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { markdownOf } from '../../platform/core/packed-texts.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleRevision, RevisionDiff, revisionNumber } from './schema.ts';

interface Pair {
  page_id: string;
  wiki_id: string;
  from_revision: number;
  to_revision: number;
  from_title: string;
  to_title: string;
  from_markdown: string;
  to_markdown: string;
  from_packed: Buffer | null;
  to_packed: Buffer | null;
}

export const diffRevisions = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/revisions/:from_revision/diff/:to_revision',
  summary: 'Compare two revisions',
  description: 'The changes from the first revision to the second, by line and by word. Either one may be the older.',
  access: onWiki('pages:read'),
  params: Type.Object({
    wiki_id: Id,
    page_id: Id,
    from_revision: Type.String({ description: 'Number of the first revision.' }),
    to_revision: Type.String({ description: 'Number of the second revision.' }),
  }),
  reply: RevisionDiff,
  example: {
    reply: {
      page_id: exampleRevision.page_id,
      wiki_id: exampleRevision.wiki_id,
      from_revision: 1,
      to_revision: 2,
      from_title: 'Setup',
      to_title: 'Setup',
      added: 1,
      removed: 1,
      coarse: false,
      truncated: false,
      hunks: [
        {
          from_line: 1,
          from_count: 2,
          to_line: 1,
          to_count: 2,
          lines: [
            { kind: 'context', text: '# Setup', segments: [] },
            {
              kind: 'removed',
              text: 'Install Acme.',
              segments: [
                { kind: 'same', text: 'Install ' },
                { kind: 'removed', text: 'Acme' },
                { kind: 'same', text: '.' },
              ],
            },
            {
              kind: 'added',
              text: 'Install Ajax.',
              segments: [
                { kind: 'same', text: 'Install ' },
                { kind: 'added', text: 'Ajax' },
                { kind: 'same', text: '.' },
              ],
            },
          ],
        },
      ],
    },
  },
  run: async ({ params, one }) => {
    const { from_markdown, from_packed, to_markdown, to_packed, ...pair } = await one<Pair>(sql`
      select p.page_id, p.wiki_id, f.revision as from_revision, t.revision as to_revision, f.title as from_title,
        t.title as to_title, f.markdown as from_markdown, t.markdown as to_markdown,
        f.packed as from_packed, t.packed as to_packed
      from pages p
      join revisions f on f.wiki_id = p.wiki_id and f.page_id = p.page_id and f.revision = ${revisionNumber(params.from_revision)}
      join revisions t on t.wiki_id = p.wiki_id and t.page_id = p.page_id and t.revision = ${revisionNumber(params.to_revision)}
      where p.wiki_id = ${params.wiki_id} and p.page_id = ${params.page_id} and p.trashed_at is null
    `);
    const [from, to] = await Promise.all([
      markdownOf({ markdown: from_markdown, packed: from_packed }),
      markdownOf({ markdown: to_markdown, packed: to_packed }),
    ]);
    return { ...pair, ...diffTexts(from, to) };
  },
});
