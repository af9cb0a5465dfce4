import type { MembersList } from '../../../src/members/schema.ts';
import type { Page } from '../../../src/pages/schema.ts';
import type { Organization, User } from '../../../src/workspaces/schema.ts';
import type { Api } from '../../api.ts';

interface Reader {
  user: User;
  workspace: Organization;
}

/** Names of those who changed the pages last, by user_id. The members are asked for only if there are others than the user. */
export async function loadNames(
  api: Api,
  { user, workspace }: Reader,
  pages: readonly Page[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map([[user.user_id, user.display_name]]);
  const isAlone = pages.every(({ updated_by }) => updated_by === user.user_id);
  if (isAlone || !workspace.permissions.includes('members:read')) return names;
  const { members } = await api.get<MembersList>(`/v1/workspaces/${workspace.organization_id}/members`);
  for (const { user_id, display_name } of members) names.set(user_id, display_name);
  return names;
}
