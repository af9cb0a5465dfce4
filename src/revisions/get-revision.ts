import { onWiki } from '../access/access-rule.ts';
import { withTexts } from '../core/packed-texts.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { isVisible } from '../pages/schema.ts';
import { exampleFullRevision, FullRevision, RevisionParams, revisionColumns, revisionNumber } from './schema.ts';

export const getRevision = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/revisions/:revision',
  summary: 'Get a revision',
  access: onWiki('pages:read'),
  params: RevisionParams,
  reply: FullRevision,
  example: { reply: exampleFullRevision },
  run: async ({ params, one }) =>
    withTexts(
      await one<FullRevision & { packed: Buffer | null }>(sql`
      select ${revisionColumns}, r.markdown, r.html, r.outline, r.packed
      from revisions r join pages p on p.wiki_id = r.wiki_id and p.page_id = r.page_id
      where r.wiki_id = ${params.wiki_id} and r.page_id = ${params.page_id}
        and r.revision = ${revisionNumber(params.revision)} and ${isVisible}
    `),
    ),
});
