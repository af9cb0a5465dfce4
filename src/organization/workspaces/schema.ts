import { type Static, Type } from 'typebox';
import { avatarUrl, type OwnAddress } from '../../platform/access/avatar-url.ts';
import { effectivePermissions } from '../../platform/access/roles.ts';
import { Flag, Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { OrganizationWiki } from '../../wiki/wikis/schema.ts';

export const Workspace = Record(
  {
    workspace_id: Id,
    name: Type.String(),
    slug: Type.String(),
    role: Type.String({ description: "The caller's role in the workspace." }),
    permissions: Type.Array(Type.String(), {
      default: [],
      description: "The caller's permissions in the workspace, sorted.",
    }),
  },
  { title: 'Workspace', description: 'A workspace as the caller sees it.' },
);
export type Workspace = Static<typeof Workspace>;

/** A workspace as stored. The caller's permissions are computed from the role and the credential. */
export const WorkspaceRow = Type.Omit(Workspace, ['permissions']);
export type WorkspaceRow = Static<typeof WorkspaceRow>;

/** Columns of WorkspaceRow, from a workspace `w` and the caller's membership `m`. */
export const workspaceColumns: Sql = sql`w.workspace_id, w.name, w.slug, m.role`;

/**
 * Converts a row. `granted` is the list of permissions of the caller's credential; null means all permissions of the
 * role.
 */
export function toWorkspace(row: WorkspaceRow, granted: readonly string[] | null): Workspace {
  return { ...row, permissions: effectivePermissions(row.role, granted) };
}

/** A deleted workspace that its owners can restore. */
export const DeletedWorkspace = Record(
  {
    workspace_id: Id,
    name: Type.String(),
    slug: Type.String(),
    deleted_at: Timestamp,
    purged_after: Timestamp,
  },
  { title: 'DeletedWorkspace' },
);
export type DeletedWorkspace = Static<typeof DeletedWorkspace>;

export const User = Record(
  { user_id: Id, email: Type.String(), display_name: Type.String(), avatar_url: Text },
  { title: 'User' },
);
export type User = Static<typeof User>;

/** Columns of User, from a user `u`. */
export function userColumns(service: OwnAddress): Sql {
  return sql`u.user_id, u.email, u.display_name, ${avatarUrl(service)} as avatar_url`;
}

export const WorkspaceAccess = Record(
  {
    workspace_id: Id,
    role: Type.String(),
    can_manage_billing: Flag,
    can_manage_developers: Flag,
    can_manage_members: Flag,
  },
  { title: 'WorkspaceAccess' },
);

const OrganizationAccess = Record(
  {
    organization_id: Id,
    role: Type.String(),
    can_manage_billing: Flag,
    can_manage_developers: Flag,
    can_manage_enterprise: Flag,
    can_manage_members: Flag,
  },
  { title: 'OrganizationAccess' },
);

export const Organization = Record(
  {
    name: Type.String(),
    organization_id: Id,
    role: Type.String(),
    slug: Type.String(),
    permissions: Type.Array(Type.String(), { default: [] }),
  },
  { title: 'Organization' },
);
export type Organization = Static<typeof Organization>;

export const Overview = Record(
  {
    access: Type.Array(OrganizationAccess),
    session: Record(
      {
        organizations: Type.Array(Organization),
        user: User,
        organization_id: Type.String({ description: 'The current organization; "" if the caller has none.' }),
      },
      { title: 'OrganizationSession' },
    ),
    wikis: Type.Array(OrganizationWiki),
  },
  { title: 'Overview' },
);
export type Overview = Static<typeof Overview>;

/** Returns the flags for the permissions of a role, limited to the permissions granted to the credential. */
export function manageFlags(role: string, granted: readonly string[] | null) {
  const permissions = effectivePermissions(role, granted);
  return {
    can_manage_billing: permissions.includes('billing:manage'),
    can_manage_developers: permissions.includes('developers:manage'),
    can_manage_enterprise: permissions.includes('enterprise:manage'),
    can_manage_members: permissions.includes('members:manage'),
  };
}

export const exampleWorkspace: Workspace = {
  workspace_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6q7',
  name: 'Acme',
  slug: 'acme',
  role: 'owner',
  permissions: effectivePermissions('owner', null),
};

export const exampleUser: User = {
  user_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  email: 'ada@example.com',
  display_name: 'Ada Lovelace',
  avatar_url: '',
};
