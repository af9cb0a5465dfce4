import type { OwnAddress } from '../../platform/access/avatar-url.ts';
import { jsonObject } from '../../platform/db/json-object.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { Wiki, wikiColumns } from '../../wiki/wikis/schema.ts';
import { manageFlags, toWorkspace, User, userColumns, WorkspaceRow, workspaceColumns } from './schema.ts';

interface OverviewRow {
  user: User;
  granted: string[] | null;
  bound_workspace_id: string | null;
  last_workspace_id: string | null;
  workspaces: WorkspaceRow[];
  wikis: Wiki[];
}

/**
 * Returns the statement for both overviews: the caller, their workspaces (oldest membership first) and the wikis in
 * them.
 */
export function overviewStatement(service: OwnAddress): Sql {
  return sql`
  select
    ${jsonObject(User, userColumns(service))} as "user", a.granted, a.bound_workspace_id, a.last_workspace_id,
    coalesce((
      select json_agg(${jsonObject(WorkspaceRow, workspaceColumns)} order by m.created_at, m.membership_id)
      from memberships m join workspaces w on w.workspace_id = m.workspace_id
      where m.user_id = a.user_id and m.status = 'active'
        and (a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id)), '[]') as workspaces,
    coalesce((
      select json_agg(${jsonObject(Wiki, wikiColumns)} order by w.wiki_id)
      from memberships m join wikis w on w.workspace_id = m.workspace_id
      where m.user_id = a.user_id and m.status = 'active'
        and (a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id)), '[]') as wikis
  from access a join users u on u.user_id = a.user_id and u.user_id = (select own_user())`;
}

/** Maximum number of wikis listed next to the current one, per workspace and elsewhere. */
export const NEAR_MAX = 20;

const ME = raw('(select user_id from access)');

/** Selects the caller's memberships `m` for which their credential is valid. */
const IS_OWN = raw(`m.user_id = (select user_id from access) and m.status = 'active'
      and (select a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id from access a)`);

const firstWikis = (workspace_id: Sql) => sql`
      select w.* from wikis w where w.workspace_id = ${workspace_id}
      order by w.workspace_id, w.slug limit ${NEAR_MAX}`;

/**
 * Returns the same model limited to one wiki and the first wikis next to it, for the navigation on every page: members
 * of a thousand workspaces must not wait for all their wikis. Contains no workspace and no wiki if the caller has no
 * such wiki.
 *
 * Each step is an index lookup per row of the previous step (`offset 0` enforces that order); otherwise the planner
 * would read all workspaces visible to the caller.
 */
export function overviewNear(service: OwnAddress, workspace_slug: string, wiki_slug: string): Sql {
  return sql`
  with here as materialized (
    select w.* from memberships m join wikis w on w.workspace_id = m.workspace_id and w.slug = ${wiki_slug}
    where ${IS_OWN} and m.workspace_id = (select o.workspace_id from workspaces o where o.slug = ${workspace_slug})),
  near as materialized (
    select * from here
    union
    select w.* from here h cross join lateral (${firstWikis(sql`h.workspace_id`)}) w
    union
    (select w.* from (
        select m.workspace_id from memberships m
        where ${IS_OWN} and m.workspace_id <> (select workspace_id from here)
        order by m.workspace_id limit ${NEAR_MAX}) m
      cross join lateral (${firstWikis(sql`m.workspace_id`)}) w
      order by m.workspace_id limit ${NEAR_MAX}))
  select
    ${jsonObject(User, userColumns(service))} as "user", a.granted, a.bound_workspace_id,
    (select workspace_id from here) as last_workspace_id,
    coalesce((
      select json_agg(${jsonObject(WorkspaceRow, workspaceColumns)} order by m.created_at, m.membership_id)
      from (select distinct workspace_id from near) n
      cross join lateral (
        select m.* from memberships m where m.user_id = ${ME} and m.workspace_id = n.workspace_id offset 0) m
      cross join lateral (select w.* from workspaces w where w.workspace_id = n.workspace_id offset 0) w), '[]') as workspaces,
    coalesce((select json_agg(${jsonObject(Wiki, wikiColumns)} order by w.wiki_id) from near w), '[]') as wikis
  from access a join users u on u.user_id = a.user_id and u.user_id = (select own_user())`;
}

/**
 * Converts a row and adds computed fields: permissions, flags, and the current workspace (the key's, the last used, or
 * the oldest).
 */
export function readOverview(row: OverviewRow) {
  const workspaces = row.workspaces.map((workspace) => ({
    ...toWorkspace(workspace, row.granted),
    flags: manageFlags(workspace.role, row.granted),
  }));
  const current =
    workspaces.find((workspace) => workspace.workspace_id === (row.bound_workspace_id ?? row.last_workspace_id)) ??
    workspaces[0];
  const readable = new Set(
    workspaces
      .filter((workspace) => workspace.permissions.includes('pages:read'))
      .map((workspace) => workspace.workspace_id),
  );
  return { user: row.user, workspaces, current, wikis: row.wikis.filter((wiki) => readable.has(wiki.workspace_id)) };
}

export type OverviewModel = ReturnType<typeof readOverview>;
export type { OverviewRow };
