import { raw, type Sql, sql } from '../db/sql.ts';
import { type Credential, claimsOf, kindOf } from './credential-kinds.ts';
import { type Permission, rolesWith, WIDGETS, type Widget } from './roles.ts';

/**
 * The access rule of an endpoint, as data. The guard turns it into SQL; openapi.json, access.txt and generated tests
 * read it.
 */
export type Access =
  | { on: 'anyone' }
  | { on: 'caller'; unrestricted: boolean; session: boolean }
  | {
      on: 'workspace';
      permission: Permission | '';
      param: 'workspace_id' | 'organization_id';
      orOwnMembership: boolean;
      session: boolean;
    }
  | { on: 'wiki'; permission: Permission; orCreator: boolean; unlimited: boolean; readsPage: boolean }
  | { on: 'widget'; widget: Widget; instead: ReplacedAccess | undefined };

type CallerAccess = Extract<Access, { on: 'anyone' | 'caller' }>;
type ObjectAccess = Exclude<Access, CallerAccess>;
/** The rule of an endpoint that widget tokens can also call. */
export type ReplacedAccess = Extract<Access, { on: 'caller' | 'workspace' }>;

/** Needs no credential and ignores any that is sent. The endpoint's answer depends on secrets in the request. */
export function anyone(): Access {
  return { on: 'anyone' };
}

/**
 * Any caller with a credential; the endpoint is about the caller's own data. `unrestricted` refuses keys with limited
 * permissions or bound to a workspace. `session` accepts only an access token of a session and the operator's command,
 * so that a leaked key can neither create a way to sign in nor show where its user is signed in.
 */
export function signedIn(options: { unrestricted?: true; session?: true } = {}): Access {
  return { on: 'caller', unrestricted: options.unrestricted === true, session: options.session === true };
}

/**
 * Active members of the path's workspace whose role has the permission; '' accepts any role. `orOwnMembership` also
 * admits the member whose membership the path names, unless their credential has limited permissions. `session` accepts
 * only an access token of a session.
 */
export function onWorkspace(
  permission: Permission | '',
  options: { param?: 'workspace_id' | 'organization_id'; orOwnMembership?: true; session?: true } = {},
): Access {
  const { param = 'workspace_id', orOwnMembership = false, session = false } = options;
  return { on: 'workspace', permission, param, orOwnMembership, session };
}

/**
 * Active members of the path's wiki's workspace whose role has the permission. `orCreator` also admits the wiki's
 * creator. `unlimited` refuses keys with a list of permissions; for the caller's own data, which needs no permission to
 * write. An endpoint that needs `pages:write` changes the page of its path, which a restriction may refuse, unless
 * `readsPage`.
 */
export function onWiki(
  permission: Permission,
  options: { orCreator?: true; unlimited?: true; readsPage?: true } = {},
): Access {
  const { orCreator, unlimited, readsPage } = options;
  return {
    on: 'wiki',
    permission,
    orCreator: orCreator === true,
    unlimited: unlimited === true,
    readsPage: readsPage === true,
  };
}

/** Holders of a token for this widget, as long as their membership still allows the widget. */
export function onWidget(widget: Widget): Access {
  return { on: 'widget', widget, instead: undefined };
}

/**
 * Holders of a token for this widget that names the origin of its page. The rule of the endpoint must hold for the user
 * and for the credential that created the token. The profile widget only serves its user: of an endpoint on a workspace
 * it allows the actions of members on their own membership.
 */
export function throughWidget(widget: Widget, instead: ReplacedAccess): Access {
  return { on: 'widget', widget, instead };
}

/** Returns the permission that an endpoint needs in the workspace; '' for none. */
export function permissionOf(access: Access): Permission | '' {
  if (access.on === 'caller' || access.on === 'anyone') return '';
  if (access.on !== 'widget') return access.permission;
  const { widget, instead } = access;
  return widget !== 'profile' && instead?.on === 'workspace' ? instead.permission : WIDGETS[widget];
}

const NO_CONDITION = raw('');
/** Returns the CTE `target`: the object that the path names, or no row if it does not exist. */
export function targetCte(access: Access, params: Record<string, string>, credential: Credential): Sql {
  switch (access.on) {
    case 'anyone':
    case 'caller':
      return sql`select null::text as workspace_id, null::text as created_by`;
    case 'workspace':
      return sql`select workspace_id, created_by from workspaces where workspace_id = ${params[access.param]}`;
    case 'wiki':
      return sql`select workspace_id, wiki_id, created_by from wikis where wiki_id = ${params.wiki_id}`;
    case 'widget': {
      const workspaceId = claimsOf(credential)?.workspace_id ?? null;
      return sql`select workspace_id, created_by, widget_origins from workspaces where workspace_id = ${workspaceId}`;
    }
  }
}

/**
 * Returns the CTE `access`: caller and target joined by an active membership that allows the access, or no row if it is
 * refused. At most one membership matches; `limit` tells the planner so.
 */
export function accessCte(access: Access, params: Record<string, string>, credential: Credential): Sql {
  if (access.on === 'anyone' || access.on === 'caller') {
    return sql`
      select null::text as workspace_id, c.user_id, c.credential_id, c.bound_workspace_id, c.granted, c.last_workspace_id,
        null::text as role, null::text as membership_id
      from caller c${callerCondition(access, credential)}`;
  }
  const orOwn =
    access.on === 'workspace' && access.orOwnMembership
      ? sql` or (m.membership_id = ${params.membership_id} and c.granted is null and c.bound_workspace_id is null)`
      : raw('');
  return sql`
    select ${accessColumns(access)}, c.user_id, c.credential_id, c.bound_workspace_id, c.granted, m.role, m.membership_id
    from caller c
    join target t on c.bound_workspace_id is null or c.bound_workspace_id = t.workspace_id
    join memberships m on m.user_id = c.user_id and m.workspace_id = t.workspace_id and m.status = 'active'
    where ((${allowedCondition(access)})${orOwn})${sessionCondition(access, credential)}${access.on === 'widget' ? widgetCondition(access, params, credential) : NO_CONDITION}
    limit 1`;
}

function sessionCondition(access: ObjectAccess, credential: Credential): Sql {
  return access.on === 'workspace' && access.session && !kindOf(credential).isSession
    ? raw(' and false')
    : NO_CONDITION;
}

function accessColumns(access: ObjectAccess): Sql {
  if (access.on === 'wiki') return raw('t.workspace_id, t.wiki_id');
  // Changes of users to their own account belong to no workspace and appear in no workspace's audit log.
  if (access.on === 'widget' && access.instead?.on === 'caller') {
    return raw('null::text as workspace_id, c.last_workspace_id');
  }
  return raw('t.workspace_id');
}

/**
 * Returns the additional conditions for a token that names an origin: the workspace still allows the origin, and the
 * replaced rule holds.
 */
function widgetCondition(
  { widget, instead }: Extract<Access, { on: 'widget' }>,
  params: Record<string, string>,
  credential: Credential,
): Sql {
  const claims = claimsOf(credential);
  if (!claims) return raw(' and false');
  const { origin, isOwnOrigin } = claims;
  const bySession = instead?.session ? raw(` and c.credential_id like 'ses\\_%'`) : NO_CONDITION;
  const atOrigin = origin === null || isOwnOrigin ? NO_CONDITION : sql` and ${origin}::text = any (t.widget_origins)`;
  if (instead?.on === 'caller') {
    const whole = instead.unrestricted ? raw(' and c.granted is null') : NO_CONDITION;
    return sql`${atOrigin}${bySession}${whole}`;
  }
  if (instead === undefined || widget !== 'profile') return sql`${atOrigin}${bySession}`;
  if (!instead.orOwnMembership) return raw(' and false');
  return sql`${atOrigin}${bySession} and m.membership_id = ${params.membership_id} and c.granted is null`;
}

function callerCondition(access: CallerAccess, credential: Credential): Sql {
  if (access.on === 'anyone') return NO_CONDITION;
  if (access.session && !kindOf(credential).isSession) return raw(' where false');
  return access.unrestricted ? raw(' where c.granted is null and c.bound_workspace_id is null') : NO_CONDITION;
}

/** Cached per rule, because the text does not depend on the request. */
const allowedConditions = new WeakMap<Access, Sql>();

function allowedCondition(access: ObjectAccess): Sql {
  let condition = allowedConditions.get(access);
  if (condition === undefined) allowedConditions.set(access, (condition = raw(allowedText(access))));
  return condition;
}

const permissionConditions = new Map<Permission, Sql>();

/**
 * Returns an expression for whether the caller has a permission other than the endpoint's own, for statements that show
 * more to such callers.
 */
export function hasPermission(permission: Permission): Sql {
  let condition = permissionConditions.get(permission);
  if (condition === undefined) {
    const roles = rolesWith(permission).map((role) => `'${role}'`);
    condition = raw(`(select coalesce(bool_or(a.role in (${roles.join(', ')})
      and (a.granted is null or '${permission}' = any (a.granted))), false) from access a)`);
    permissionConditions.set(permission, condition);
  }
  return condition;
}

function allowedText(access: ObjectAccess): string {
  const orCreator = access.on === 'wiki' && access.orCreator;
  const needed = new Set([permissionOf(access), access.on === 'widget' ? WIDGETS[access.widget] : '']);
  needed.delete('');
  const held = [...needed].map((permission) => heldText(permission as Permission, orCreator)).join(' and ') || 'true';
  return access.on === 'wiki' && access.unlimited ? `${held} and c.granted is null` : held;
}

function heldText(permission: Permission, orCreator: boolean): string {
  const roles = rolesWith(permission).map((role) => `'${role}'`);
  const holdsRole = `m.role in (${roles.join(', ')})`;
  const mayHold = orCreator ? `(${holdsRole} or t.created_by = c.user_id)` : holdsRole;
  return `${mayHold} and (c.granted is null or '${permission}' = any (c.granted))`;
}

/**
 * Returns a condition: whether the caller sees the page, source or upload that the request changes, but a restriction does
 * not let them change it.
 */
export function closedCondition(access: Access, { wiki_id, ...ids }: Record<string, string>): Sql | undefined {
  if (access.on !== 'wiki' || access.readsPage) return undefined;
  if (access.permission === 'pages:write') {
    const { page_id, attachment_id } = ids;
    if (page_id !== undefined) return sql`is_closed_page(${wiki_id}, ${page_id})`;
    if (attachment_id !== undefined) {
      return sql`is_closed_page(${wiki_id}, (
        select t.page_id from attachments t where t.wiki_id = ${wiki_id} and t.attachment_id = ${attachment_id}))`;
    }
  }
  if (access.permission === 'uploads:create') {
    const { source_id, upload_id, job_id } = ids;
    if (source_id !== undefined) return sql`is_closed_source(${wiki_id}, ${source_id})`;
    if (upload_id !== undefined) return sql`is_closed_upload(${wiki_id}, ${upload_id})`;
    if (job_id !== undefined) {
      return sql`is_closed_upload(${wiki_id}, (
        select j.upload_id from jobs j where j.wiki_id = ${wiki_id} and j.job_id = ${job_id}))`;
    }
  }
  return undefined;
}
