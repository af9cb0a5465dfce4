import { type Static, Type } from 'typebox';
import { Id, Record, Timestamp } from '../../platform/core/records.ts';
import { raw, type Sql } from '../../platform/db/sql.ts';

/** Sort orders of hits. */
export const SORTS = ['relevance', 'updated', 'created', 'title'] as const;

/** Maximum number of saved searches per user in a wiki; the trigger `limit_saved_searches` enforces the same number. */
export const SAVED_SEARCHES_MAX = 50;

export const SavedSearch = Record(
  {
    saved_search_id: Type.String({ description: 'The id that the client chose.' }),
    wiki_id: Id,
    name: Type.String(),
    query: Type.String({ description: 'The words with their operators, as typed: `install author:ada`.' }),
    sort: Type.Enum([...SORTS]),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'SavedSearch', description: 'A search saved under a name. Only its owner can see it.' },
);
export type SavedSearch = Static<typeof SavedSearch>;

export const SavedSearchParams = Type.Object({
  wiki_id: Id,
  saved_search_id: Type.String({
    pattern: '^[A-Za-z0-9_-]{8,64}$',
    description: 'Chosen by the client, such as 24 random hexadecimal digits.',
  }),
});

/** Selects the columns of SavedSearch from a row `s`. */
export const savedSearchColumns: Sql = raw(
  's.saved_search_id, s.wiki_id, s.name, s.query, s.sort, s.created_at, s.updated_at',
);

/** The caller's saved searches in the wiki of the request path, as rows `s`. */
export const OWN_SAVED_SEARCHES: Sql = raw(
  'saved_searches s join access a on s.wiki_id = a.wiki_id and s.user_id = a.user_id',
);

export const exampleSavedSearch: SavedSearch = {
  saved_search_id: '5f0c9b6a1d2e4f7a8b3c6d9e',
  wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6r7',
  name: 'My drafts',
  query: 'author:me status:draft',
  sort: 'updated',
  created_at: '2026-11-21T05:29:32.104Z',
  updated_at: '2026-11-21T05:31:07.550Z',
};
