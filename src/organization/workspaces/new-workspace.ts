import { newId } from '../../platform/core/ids.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { workspaceColumns } from './schema.ts';
import type { SeatGrant } from './seats.ts';

/**
 * CTEs that create a workspace with its owner and first wiki, from the guard's `access`; for endpoints with
 * `createsWorkspace`. They take the first free slug. They return no row if all are taken, even by a concurrent request
 * (the unique key decides).
 */
export function newWorkspaceCtes(
  workspace_id: string,
  name: string,
  slugs: string[],
  seats: SeatGrant,
): { [step: string]: Sql } {
  return {
    free: sql`
      select slug from unnest(${slugs}::text[]) with ordinality candidate (slug, place)
      where not slug_is_taken(candidate.slug)
      order by place limit 1`,
    workspace: sql`
      insert into workspaces (workspace_id, name, slug, created_by, seats_granted, seats_unlimited, seats_overage)
      select ${workspace_id}, ${name}, free.slug, access.user_id, ${seats.seats_granted}::int, ${seats.seats_unlimited},
        ${seats.seats_overage}
      from access, free
      on conflict (slug) do nothing
      returning *`,
    membership: sql`
      insert into memberships (membership_id, workspace_id, user_id, role)
      select ${newId('mem')}, workspace.workspace_id, access.user_id, 'owner' from access, workspace
      returning membership_id, role`,
    wiki: sql`
      insert into wikis (wiki_id, workspace_id, slug, title, created_by)
      select ${newId('wiki')}, workspace.workspace_id, 'main', workspace.name || ' Wiki', access.user_id
      from access, workspace
      returning wiki_id`,
    after: sql`select ${workspaceColumns}, m.membership_id, wiki.wiki_id from workspace w, membership m, wiki`,
    result: sql`select ${workspaceColumns} from workspace w, membership m`,
  };
}
