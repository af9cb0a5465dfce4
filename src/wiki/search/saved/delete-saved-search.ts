import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { OWN_SAVED_SEARCHES, SavedSearchParams } from '../schema.ts';

export const deleteSavedSearch = endpoint({
  method: 'DELETE',
  path: '/v1/wikis/:wiki_id/saved-searches/:saved_search_id',
  summary: 'Delete a saved search',
  access: onWiki('pages:read', { unlimited: true }),
  event: 'saved_search.deleted',
  params: SavedSearchParams,
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ params, one }) => {
    await one({
      // The audit record names the deleted search and omits its name and query.
      before: sql`
        select s.saved_search_id, s.wiki_id from ${OWN_SAVED_SEARCHES}
        where s.saved_search_id = ${params.saved_search_id} for update of s`,
      s: sql`
        delete from saved_searches s using before b, access a
        where s.wiki_id = b.wiki_id and s.user_id = a.user_id and s.saved_search_id = b.saved_search_id
        returning s.saved_search_id`,
      result: sql`select from s`,
    });
    return null;
  },
});
