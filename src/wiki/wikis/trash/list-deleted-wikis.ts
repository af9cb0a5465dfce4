import { Type } from 'typebox';
import { onWorkspace } from '../../../platform/access/access-rule.ts';
import { Paging } from '../../../platform/core/paging.ts';
import { Id } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { DeletedWiki, exampleDeletedWiki, restorable } from './schema.ts';

export const listDeletedWikis = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/deleted-wikis',
  summary: 'List deleted wikis',
  description:
    'Wikis deleted within the last 30 days that the caller may restore: all wikis with `wikis:manage`, otherwise only wikis that the caller created.',
  access: onWorkspace('wikis:create'),
  params: Type.Object({ workspace_id: Id }),
  query: Paging,
  paging: { keys: { wiki_id: 'text' } },
  reply: Type.Array(DeletedWiki),
  example: { reply: [exampleDeletedWiki] },
  run: ({ paging, many }) =>
    many(sql`
      select w.wiki_id, w.slug, w.title, w.deleted_at, w.purged_after from (${restorable}) w
      where true ${paging.clause}`),
});
