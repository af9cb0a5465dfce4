import { hasPermission } from '../../../platform/access/access-rule.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';

/**
 * SQL condition: whether the caller may see the page with this alias. It must not be in the trash, and drafts are
 * visible only to callers who may write. Everything that shows a page, or reveals that it exists, uses this condition.
 */
export function visible(alias: 'n' | 'p' | 't'): Sql {
  const page = raw(alias);
  return sql`(${page}.trashed_at is null and (${page}.status <> 'draft' or ${hasPermission('pages:write')}))`;
}
