import type { MembersList } from '../../src/organization/members/schema.ts';
import type { Organization, User } from '../../src/organization/workspaces/schema.ts';
import type { Api } from '../api.ts';

export interface Reader {
  user: User;
  workspace: Organization;
}

/**
 * Loads the members among these users. Sends no request if the only one is the user, or if the user may not list
 * members.
 */
export async function loadPeople(
  api: Api,
  { user, workspace }: Reader,
  user_ids: readonly string[],
): Promise<ReadonlyMap<string, User>> {
  const people = new Map([[user.user_id, user]]);
  const others = new Set(user_ids.filter((it) => it !== user.user_id));
  if (others.size === 0 || !workspace.permissions.includes('members:read')) return people;
  const path = `/v1/workspaces/${workspace.organization_id}/members?user_id=${[...others].join(',')}`;
  const { members } = await api.get<MembersList>(path);
  for (const member of members) people.set(member.user_id, member);
  return people;
}
