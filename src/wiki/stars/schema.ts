import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { examplePage } from '../pages/schema.ts';

/** Maximum number of starred pages per user in a wiki; the trigger `limit_starred_pages` enforces the same number. */
export const STARRED_PAGES_MAX = 100;

export const StarredPage = Record(
  {
    page_id: Id,
    wiki_id: Id,
    path: Type.String(),
    title: Type.String(),
    description: Text,
    status: Type.Enum(['draft', 'published', 'archived']),
    created_at: Type.String({ description: 'When the caller starred it: RFC 3339, UTC, milliseconds.' }),
    updated_at: Timestamp,
  },
  { title: 'StarredPage', description: 'A page that the caller has starred.' },
);
export type StarredPage = Static<typeof StarredPage>;

/** Selects the columns of StarredPage from a row `s` and its page `p`. */
export const starredPageColumns: Sql = sql`
  p.page_id, p.wiki_id, p.path, p.title, p.description, p.status, s.created_at, p.updated_at`;

/** The caller's stars, as rows `s`. */
export const OWN_STARS: Sql = raw('starred_pages s join access a on s.wiki_id = a.wiki_id and s.user_id = a.user_id');

export const exampleStarredPage: StarredPage = {
  page_id: examplePage.page_id,
  wiki_id: examplePage.wiki_id,
  path: examplePage.path,
  title: examplePage.title,
  description: examplePage.description,
  status: 'published',
  created_at: examplePage.created_at,
  updated_at: examplePage.updated_at,
};
