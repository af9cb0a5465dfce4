import { Type } from 'typebox';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';

/** The parameter of both lists, which have no further pages: a search with `sort=updated` has. */
export const MOST_RECENT = Type.Integer({
  minimum: 1,
  maximum: 100,
  default: 20,
  description: 'Maximum number of pages.',
});

/** Orders pages `p`. */
export const LAST_CHANGED_FIRST: Sql = raw('order by p.updated_at desc, p.page_id desc');

/**
 * Selects the most recently changed pages of a wiki as a table, without archived pages. Walks pages_by_change once for
 * published pages and once for drafts, so that neither walk skips the other's rows. The function `recent_pages` does
 * the same.
 */
export function recentPages(wiki_id: string, most: number): Sql {
  const ofStatus = (status: 'published' | 'draft') => sql`(
    select p.* from pages p
    where p.wiki_id = ${wiki_id} and p.trashed_at is null and p.status = '${raw(status)}'
    ${LAST_CHANGED_FIRST} limit ${most})`;
  return sql`(${ofStatus('published')} union all ${ofStatus('draft')})`;
}
