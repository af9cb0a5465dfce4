import { hasPermission } from '../../../platform/access/access-rule.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';

/**
 * Whether the caller may see the page of this alias: it is not in the trash, and who only reads sees no drafts. Everything that
 * shows a page, or that a page exists, decides by it.
 */
export function visible(alias: 'n' | 'p' | 't'): Sql {
  const page = raw(alias);
  return sql`(${page}.trashed_at is null and (${page}.status <> 'draft' or ${hasPermission('pages:write')}))`;
}
