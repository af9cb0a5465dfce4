import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { notFound } from '../../../platform/core/errors.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { candidateDocuments } from '../../search/query/candidates.ts';
import { findRelated, RELATED_CHARACTERS } from '../../search/query/related.ts';
import { examplePage, IS_FOUND, Page, PageParams, pageColumns } from '../schema.ts';

/** Extra candidates, in case some are hidden from the caller. */
const SPARE = 32;

export const listRelatedPages = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/pages/:page_id/related',
  summary: 'List related pages',
  description: 'The pages most similar to this one by their words, best first. Empty if no page is similar.',
  access: onWiki('pages:read'),
  params: PageParams,
  query: Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'Maximum number of pages.' }),
  }),
  reply: Type.Array(Page),
  example: { reply: [examplePage] },
  run: async ({ params: { wiki_id, page_id }, query: { limit }, many }) => {
    const [page] = await many<{ title: string; text: string }>(sql`
      select p.title, left(t.text, ${RELATED_CHARACTERS}::int) as text
      from pages p join page_texts t on t.wiki_id = p.wiki_id and t.page_id = p.page_id
      where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null`);
    if (!page) throw notFound();
    const candidates = await findRelated(many, { wiki_id, kind: 'page' }, page, limit + SPARE);
    if (candidates === undefined) return [];
    return many<Page>({
      candidates,
      result: sql`
        select ${pageColumns} from ${candidateDocuments({ wiki_id, kind: 'page' })}
        where p.page_id <> ${page_id} and ${IS_FOUND}
        order by c.score desc, p.page_id limit ${limit}`,
    });
  },
});
