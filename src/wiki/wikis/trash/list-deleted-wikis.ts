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
    'The wikis that were deleted within the last 30 days and that the caller may restore: all with `wikis:manage`, or else those that they have created.',
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
