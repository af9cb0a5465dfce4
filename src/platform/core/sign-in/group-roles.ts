/** A role in a workspace, named by its slug or id, for members of a group at the OpenID provider. */
export interface GroupRole {
  group: string;
  workspace: string;
  role: string;
}

/** Roles that a group can grant, from lowest to highest. Only people can make an owner. */
export const GROUP_ROLES: readonly string[] = ['viewer', 'billing', 'member', 'developer', 'admin'];

const ENTRY = new RegExp(
  `\\s*([^\\s].*?)\\s*=\\s*([a-z0-9][a-z0-9_-]*)\\s*:\\s*(${GROUP_ROLES.join('|')})\\s*(?:,|$)`,
  'sy',
);

/**
 * Parses `GROUP=WORKSPACE:ROLE, …`; returns undefined if it is malformed. Group names may contain commas and equals
 * signs (cn=wiki,ou=staff), because an entry ends with its role.
 */
export function readGroupRoles(text: string): GroupRole[] | undefined {
  const roles: GroupRole[] = [];
  ENTRY.lastIndex = 0;
  for (let at = 0; at < text.length; at = ENTRY.lastIndex) {
    const [, group, workspace, role] = ENTRY.exec(text) ?? [];
    if (!group || !workspace || !role) return undefined;
    roles.push({ group, workspace, role });
  }
  return roles;
}
