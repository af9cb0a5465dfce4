import { Type } from 'typebox';
import { onWiki } from '../../../platform/access/access-rule.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { InputText } from '../../../platform/core/records.ts';
import { readName } from '../../../platform/core/titles.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { QUERY_CHARACTERS } from '../query/parse-query.ts';
import {
  exampleSavedSearch,
  SAVED_SEARCHES_MAX,
  SavedSearch,
  SavedSearchParams,
  SORTS,
  savedSearchColumns,
} from '../schema.ts';

const { name, query, sort } = exampleSavedSearch;

export const putSavedSearch = endpoint({
  method: 'PUT',
  path: '/v1/wikis/:wiki_id/saved-searches/:saved_search_id',
  summary: 'Save a search',
  description:
    'Saves a search under a name, visible only to the caller. Replaces the search saved under this id. At most ' +
    `${SAVED_SEARCHES_MAX} for each person in a wiki, with distinct names.`,
  access: onWiki('pages:read', { unlimited: true }),
  event: 'saved_search.saved',
  params: SavedSearchParams,
  body: Type.Object({
    name: InputText({ minLength: 1 }),
    query: Type.String({
      minLength: 1,
      maxLength: QUERY_CHARACTERS,
      description: 'Any query.',
    }),
    sort: Type.Optional(Type.Enum([...SORTS], { description: 'By relevance by default.' })),
  }),
  reply: SavedSearch,
  errors: ['invalid_name', 'conflict'],
  example: { body: { name, query, sort }, reply: exampleSavedSearch },
  run: async ({ params: { saved_search_id }, body, one, refuse }) => {
    const name = readName(body.name);
    if (name instanceof ApiError) return refuse(name);
    return one<SavedSearch>({
      s: sql`
        insert into saved_searches as s (wiki_id, user_id, saved_search_id, name, query, sort)
        select a.wiki_id, a.user_id, ${saved_search_id}, ${name}, ${body.query}, ${body.sort ?? 'relevance'} from access a
        on conflict (wiki_id, user_id, saved_search_id) do update set name = excluded.name, query = excluded.query,
          sort = excluded.sort, updated_at = now()
        returning s.*`,
      // The audit record names the saved search and omits its name and query.
      after: sql`select s.saved_search_id, s.wiki_id from s`,
      result: sql`select ${savedSearchColumns} from s`,
    }).catch((error: unknown) => {
      throw asConflict(error);
    });
  },
});

function asConflict(error: unknown): unknown {
  const { constraint } = error as { constraint?: string };
  if (constraint === 'saved_searches_by_name') {
    return new ApiError(
      'conflict',
      'You already have a saved search with this name. Choose another name, or replace that search.',
    );
  }
  if (constraint !== 'saved_searches_of_a_person') return error;
  return new ApiError(
    'conflict',
    `You have ${SAVED_SEARCHES_MAX} saved searches in this wiki, the maximum. Delete some of them.`,
  );
}
