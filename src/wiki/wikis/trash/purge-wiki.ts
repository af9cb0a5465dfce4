import { Type } from 'typebox';
import { onWorkspace } from '../../../platform/access/access-rule.ts';
import { Id } from '../../../platform/core/records.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { restorable } from './schema.ts';

export const purgeWiki = endpoint({
  method: 'DELETE',
  path: '/v1/workspaces/:workspace_id/deleted-wikis/:wiki_id',
  summary: 'Purge a deleted wiki',
  description:
    'Deletes a wiki in the trash permanently. Its pages, history, attachments and sources are gone within minutes.',
  access: onWorkspace('wikis:create'),
  event: 'wiki.purged',
  params: Type.Object({ workspace_id: Id, wiki_id: Id }),
  status: 204,
  reply: Type.Null(),
  errors: ['not_found', 'legal_hold'],
  example: { reply: null },
  run: async ({ params, one }) => {
    await one({
      named: sql`select r.wiki_id, r.slug, r.title from (${restorable}) r where r.wiki_id = ${params.wiki_id}`,
      purged: sql`select n.*, purge_wiki(n.wiki_id) as is_purged from named n`,
      before: sql`select p.wiki_id, p.slug, p.title from purged p where p.is_purged`,
      result: raw('select from before'),
    });
    return null;
  },
});
