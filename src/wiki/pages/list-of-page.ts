import type { Statements } from '../../platform/access/guard.ts';
import { notFound } from '../../platform/core/errors.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** Returns the rows of a list that belongs to a page. Throws 404 if the caller may not see the page. */
export async function listOfPage<T>(
  many: Statements['many'],
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
  list: Sql,
): Promise<T[]> {
  const rows = await many<T & { _is_row: true | null }>(sql`
    select l.* from pages p left join lateral (select true as _is_row, list.* from (${list}) list) l on true
    where p.wiki_id = ${wiki_id} and p.page_id = ${page_id} and p.trashed_at is null`);
  if (rows.length === 0) throw notFound();
  return rows.filter(({ _is_row }) => _is_row);
}
