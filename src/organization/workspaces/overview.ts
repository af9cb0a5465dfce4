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

/** One model for both overviews: the caller, their workspaces (oldest membership first) and the wikis in them. */
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

/** Wikis of the workspace, and of others, that are listed beside one. */
export const NEAR_MAX = 20;

const ME = raw('(select user_id from access)');

/** Of the caller: the memberships `m` that their credential counts in. */
const IS_OWN = raw(`m.user_id = (select user_id from access) and m.status = 'active'
      and (select a.bound_workspace_id is null or a.bound_workspace_id = m.workspace_id from access a)`);

const firstWikis = (workspace_id: Sql) => sql`
      select w.* from wikis w where w.workspace_id = ${workspace_id}
      order by w.workspace_id, w.slug limit ${NEAR_MAX}`;

/**
 * The same model with one wiki and the first of those beside it, for what is shown with every page: who is in a thousand
 * workspaces does not wait for all of their wikis. Without a workspace and a wiki where the caller has no such wiki.
 *
 * Each step is a look into an index for one row of the step before (`offset 0` keeps that order): the planner would else read
 * all workspaces that the caller can see.
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

/** The model with what is computed: permissions, flags, and the current workspace (the key's, the last used, the oldest). */
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
