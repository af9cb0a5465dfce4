import { Type } from 'typebox';
import { onWiki } from '../../platform/access/access-rule.ts';
import { ApiError, notFound } from '../../platform/core/errors.ts';
import { markdownOf } from '../../platform/core/packed-texts.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { revisionOf } from '../pages/page-input.ts';
import { exampleFullPage, FullPage, pageTag } from '../pages/schema.ts';
import { updatePage } from '../pages/update-page.ts';
import { RevisionParams, revisionNumber } from './schema.ts';

/** Writes the old revision as a new one; the revisions in between stay in the history. */
export const restoreRevision = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/pages/:page_id/revisions/:revision/restore',
  summary: 'Restore a revision',
  description:
    'Creates a new revision with the text and title of this one; its links keep their targets. With `base_revision`, or ' +
    'If-Match and the ETag of a read, the answer is 409 `edit_conflict` if the page has changed since.',
  access: onWiki('pages:write'),
  event: 'page.updated',
  params: RevisionParams,
  body: Type.Object({ base_revision: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })) }),
  reply: FullPage,
  etag: pageTag,
  errors: ['quota_exceeded', 'edit_conflict', 'conflict'],
  example: { body: {}, reply: { ...exampleFullPage, revision: 3 } },
  run: async (context) => {
    const { params, body, if_match, maybeOne, refuse } = context;
    const base_revision = body.base_revision ?? (if_match === undefined ? undefined : revisionOf(if_match));
    if (base_revision instanceof ApiError) return refuse(base_revision);
    const old = await maybeOne<{ title: string; markdown: string; packed: Buffer | null; folder: string }>(sql`
      select r.title, r.markdown, r.packed, r.folder from revisions r join pages p on p.wiki_id = r.wiki_id and p.page_id = r.page_id
      where r.wiki_id = ${params.wiki_id} and r.page_id = ${params.page_id}
        and r.revision = ${revisionNumber(params.revision)} and p.trashed_at is null`);
    if (!old) throw notFound();
    const place = { slug: undefined, parent_page_id: undefined, position: undefined, status: undefined };
    const { title, folder } = old;
    return updatePage(context, { title, folder, markdown: await markdownOf(old), ...place, base_revision });
  },
});
