import { ApiError } from '../core/errors.ts';

/** A permission of a role, `resource:action`, as listed in the `permissions` of a workspace and of an API key. */
export type Permission =
  | 'billing:manage'
  | 'developers:manage'
  | 'enterprise:manage'
  | 'members:manage'
  | 'members:read'
  | 'pages:comment'
  | 'pages:read'
  | 'pages:write'
  | 'sources:read'
  | 'uploads:create'
  | 'wikis:create'
  | 'wikis:export'
  | 'wikis:manage'
  | 'workspace:delete'
  | 'workspace:transfer';

export type RoleSlug = 'owner' | 'admin' | 'developer' | 'billing' | 'member' | 'viewer';

export interface RoleEntry {
  slug: RoleSlug;
  name: string;
  description: string;
  permissions: readonly Permission[];
}

const VIEWER: Permission[] = ['members:read', 'pages:comment', 'pages:read', 'sources:read'];
const MEMBER: Permission[] = [...VIEWER, 'pages:write', 'uploads:create', 'wikis:create', 'wikis:export'];
const ADMIN: Permission[] = [
  ...MEMBER,
  'billing:manage',
  'developers:manage',
  'enterprise:manage',
  'members:manage',
  'wikis:manage',
];

/**
 * All roles, in the order of the members list. A role ranks above every role whose permissions are a subset of its own.
 */
export const ROLES: readonly RoleEntry[] = [
  {
    slug: 'owner',
    name: 'Owner',
    description: 'Full access, including deleting and transferring the workspace.',
    permissions: sorted([...ADMIN, 'workspace:delete', 'workspace:transfer']),
  },
  {
    slug: 'admin',
    name: 'Admin',
    description: 'Full access, except deleting or transferring the workspace.',
    permissions: sorted(ADMIN),
  },
  {
    slug: 'developer',
    name: 'Developer',
    description: 'Everything a member can do, plus API keys.',
    permissions: sorted([...MEMBER, 'developers:manage']),
  },
  {
    slug: 'billing',
    name: 'Billing manager',
    description: 'Manages the plan and invoices, and can read members and pages.',
    permissions: sorted(['billing:manage', 'members:read', 'pages:read']),
  },
  {
    slug: 'member',
    name: 'Member',
    description: 'Can create wikis, upload files, and read, edit and export pages.',
    permissions: sorted(MEMBER),
  },
  {
    slug: 'viewer',
    name: 'Viewer',
    description: 'Can read pages and their sources.',
    permissions: sorted(VIEWER),
  },
];

function sorted(permissions: Permission[]): Permission[] {
  return permissions.toSorted();
}

export const PERMISSIONS: readonly Permission[] = ROLES[0]?.permissions ?? [];

export function findRole(slug: string): RoleEntry | undefined {
  return ROLES.find((role) => role.slug === slug);
}

/** Returns the slugs of roles with a permission, for SQL's `in (…)`. */
export function rolesWith(permission: Permission): RoleSlug[] {
  return ROLES.filter((role) => role.permissions.includes(permission)).map((role) => role.slug);
}

/**
 * Returns whether a caller may grant or change a role: all its permissions must be among the caller's own. A credential
 * with limited permissions (`granted`) also cannot grant a role that manages anything outside them.
 */
export function canGrant(own: RoleEntry, other: RoleEntry, granted: readonly string[] | null): boolean {
  if (!other.permissions.every((permission) => own.permissions.includes(permission))) return false;
  const manages = other.permissions.filter((permission) => /:manage$|^workspace:/.test(permission));
  return granted === null || manages.every((permission) => granted.includes(permission));
}

/**
 * Returns the permissions of a role through a credential with limited permissions (`granted`; null means all), sorted.
 * All code that shows permissions or `can_manage_*` flags computes them here.
 */
export function effectivePermissions(role: string, granted: readonly string[] | null): Permission[] {
  const all = findRole(role)?.permissions ?? [];
  return granted === null ? [...all] : all.filter((permission) => granted.includes(permission));
}

export function notGrantable(): ApiError {
  return new ApiError('role_not_grantable', "A role above the caller's own cannot be granted or changed.");
}

export function unknownRole(role: string): ApiError {
  const known = ROLES.map((entry) => entry.slug).join(', ');
  return new ApiError('unknown_role', `There is no role "${role.slice(0, 64)}". The roles are ${known}.`);
}

/** The widgets, each with the permission that its token needs ('' admits any active member). */
export const WIDGETS = { profile: '', enterprise: 'enterprise:manage', developers: 'developers:manage' } as const;

export type Widget = keyof typeof WIDGETS;
