import { DEAD } from '@ibid/markdown/dead-link.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';

/** The target of a link `l` as written: a path, `[[target]]`, or an address. */
export const writtenTarget: Sql = sql`
  case when starts_with(l.to_path, '${raw(DEAD)}') then substr(l.to_path, 2, length(l.to_path) - 2) else l.to_path end`;

/**
 * Whether a link `l` without a page leads elsewhere in the service: to its API, or to a page of the web application in
 * the same workspace.
 */
export function leadsOutsideWiki(wiki_id: string): Sql {
  return sql`(starts_with(l.to_path, '${raw(DEAD)}/') and (starts_with(l.to_path, '${raw(DEAD)}/v1/') or exists (
    select from wikis w join workspaces o on o.workspace_id = w.workspace_id
    where w.wiki_id = ${wiki_id} and starts_with(l.to_path, '${raw(DEAD)}/' || o.slug || '/'))))`;
}
