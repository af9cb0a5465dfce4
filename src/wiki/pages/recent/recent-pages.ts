import { Type } from 'typebox';
import { hasPermission } from '../../../platform/access/access-rule.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';

/** The parameter of both lists, which do not go on: a search by `sort=updated` does. */
export const MOST_RECENT = Type.Integer({
  minimum: 1,
  maximum: 100,
  default: 20,
  description: 'How many pages at most.',
});

/** The order of pages `p`. */
export const LAST_CHANGED_FIRST: Sql = raw('order by p.updated_at desc, p.page_id desc');

/** Whether the caller sees drafts. */
export const SEES_DRAFTS: Sql = hasPermission('pages:write');

/**
 * The pages of a wiki that were changed last, without archived ones, as a table: one walk of pages_by_change for what is
 * published and one for drafts, so that neither passes over the other. The function `recent_pages` has the same.
 */
export function recentPages(wiki_id: string, most: number): Sql {
  const ofStatus = (status: 'published' | 'draft', isSeen: Sql) => sql`(
    select p.* from pages p
    where p.wiki_id = ${wiki_id} and p.trashed_at is null and p.status = '${raw(status)}' and ${isSeen}
    ${LAST_CHANGED_FIRST} limit ${most})`;
  return sql`(${ofStatus('published', raw('true'))} union all ${ofStatus('draft', SEES_DRAFTS)})`;
}
