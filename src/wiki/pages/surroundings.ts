import { hasPermission } from '../../platform/access/access-rule.ts';
import { avatarUrl, type OwnAddress } from '../../platform/access/avatar-url.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { type ArchiveClaim, claimOf } from './claims.ts';
import type { PageSurroundings } from './schema.ts';

/** Maximum number of pages per branch of the tree, and of subpages. */
export const BRANCH_MAX = 100;
const BACKLINKS_MAX = 20;
/** A page has one source, rarely several. */
const INCOMPLETE_MAX = 5;

export function listed(rows: Sql): Sql {
  return sql`coalesce((select json_agg(x) from (${rows}) x), '[]')`;
}

/** The surroundings of a page without its branches, as selected by a statement. */
export interface SurroundingRow extends Omit<PageSurroundings, 'branches' | 'has_more_backlinks' | 'claim'> {
  claim: ArchiveClaim | null;
}

/**
 * The columns of SurroundingRow for a page `p` with the claim of its current revision. The statement must join
 * `lastAuthor` as `author`.
 */
export function surroundingColumns(wiki_id: string, page_id: string | Sql): Sql {
  return sql`p.tags, p.properties, coalesce(author.name, '') as updated_by_name,
    coalesce(author.avatar_url, '') as updated_by_avatar_url,
    ${claimOf(raw('p.claim'), raw('p.wiki_id'))} as claim,
    ${listed(subpages(wiki_id, page_id))} as subpages,
    ${isStarred} as is_starred,
    ${listed(backlinks(wiki_id, page_id))} as backlinks,
    ${listed(incompleteSources)} as incomplete_sources`;
}

export function shownBacklinks({ backlinks: found }: Pick<SurroundingRow, 'backlinks'>) {
  return { backlinks: found.slice(0, BACKLINKS_MAX), has_more_backlinks: found.length > BACKLINKS_MAX };
}

/**
 * Selects the last author of a page `p`: moving a page writes no revision. Without the limit the planner may hash all
 * members of the workspace.
 */
export function lastAuthor(service: OwnAddress): Sql {
  return sql`
  select coalesce(nullif(u.display_name, ''), u.email) as name, ${avatarUrl(service)} as avatar_url
  from revisions r
  join access a on true
  join memberships m on m.workspace_id = a.workspace_id and m.user_id = r.created_by
  join users u on u.user_id = m.user_id
  where r.wiki_id = p.wiki_id and r.page_id = p.page_id and r.revision = p.revision and r.created_by = p.updated_by
    and ${hasPermission('members:read')}
  limit 1`;
}

/** Whether the caller starred a page `p`. */
const isStarred = sql`exists (
  select from starred_pages s join access a on a.user_id = s.user_id where s.wiki_id = p.wiki_id and s.page_id = p.page_id)`;

function subpages(wiki_id: string, page_id: string | Sql): Sql {
  return sql`
    select p.page_id, p.description from pages p
    where p.wiki_id = ${wiki_id} and p.parent_page_id = ${page_id} and p.trashed_at is null
    order by p.parent_page_id, p.position, p.page_id limit ${BRANCH_MAX}`;
}

/** Selects one row more than the limit, to tell whether there are more. */
function backlinks(wiki_id: string, page_id: string | Sql): Sql {
  return sql`
    select p.* from (
      select distinct l.from_page_id as page_id from page_links l
      where l.wiki_id = ${wiki_id} and l.to_page_id = ${page_id}) l
    cross join lateral (
      select p.page_id, p.path, p.title from pages p
      where p.wiki_id = ${wiki_id} and p.page_id = l.page_id and p.trashed_at is null offset 0) p
    order by l.page_id limit ${BACKLINKS_MAX + 1}`;
}

/** The incomplete sources of a page `p`. */
const incompleteSources = sql`
  select s.source_id, s.filename, s.loss_count as losses
  from page_sources c join sources s on s.wiki_id = c.wiki_id and s.source_id = c.source_id
  where c.wiki_id = p.wiki_id and c.page_id = p.page_id and s.loss_count > 0 and ${hasPermission('sources:read')}
  order by s.source_id limit ${INCOMPLETE_MAX}`;
