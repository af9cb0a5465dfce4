import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { wikiColumns } from '../schema.ts';

/**
 * Detaches the wiki from its workspace, which hides it from all callers and stops its jobs. Unfinished jobs wait until
 * the wiki is restored.
 */
export const deleteWiki = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id',
  summary: 'Delete a wiki',
  description:
    'With its pages, their history, attachments and sources. It can be restored within 30 days (`POST …/deleted-wikis/{wiki_id}/restore`); then it is gone for good. Its slug is free at once.',
  access: onWiki('wikis:manage', { orCreator: true }),
  event: 'wiki.deleted',
  params: WikiParams,
  status: 204,
  reply: Type.Null(),
  errors: ['legal_hold'],
  example: { reply: null },
  run: async ({ one }) => {
    await one({
      // Lock the jobs before the wiki: a worker locks the row of its job first.
      stopped: sql`
        update jobs j set status = 'queued', worker_id = null, run_after = never(), updated_at = now(),
          failures = case when j.status = 'running' then greatest(j.failures - 1, 0) else j.failures end
        from access a where j.wiki_id = a.wiki_id and j.status in ('queued', 'running') returning j.job_id`,
      before: sql`
        select ${wikiColumns}
        from wikis w join access a on a.wiki_id = w.wiki_id, (select count(*) from stopped) s
        for no key update of w`,
      removed: sql`
        update wikis w set workspace_id = null, deleted_from = w.workspace_id, deleted_at = now() from before b
        where w.wiki_id = b.wiki_id and w.workspace_id is not null returning w.wiki_id`,
      result: raw('select from removed'),
    });
    return null;
  },
});
