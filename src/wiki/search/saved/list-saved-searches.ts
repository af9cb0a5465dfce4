import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { Paging } from '../../../platform/core/paging.ts';
import { WikiParams } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { exampleSavedSearch, OWN_SAVED_SEARCHES, SavedSearch, savedSearchColumns } from '../schema.ts';

export const listSavedSearches = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/saved-searches',
  summary: 'List saved searches',
  description: 'Sorted by name.',
  access: onWiki('pages:read'),
  params: WikiParams,
  query: Paging,
  paging: { keys: { 's.name_key': 'text' } },
  reply: Type.Array(SavedSearch),
  example: { reply: [exampleSavedSearch] },
  run: ({ paging, many }) =>
    many(sql`select ${savedSearchColumns}, s.name_key from ${OWN_SAVED_SEARCHES} where true ${paging.clause}`),
});
