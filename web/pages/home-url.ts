import type { Overview } from '../../src/organization/workspaces/schema.ts';

/** Returns the address of the user's current wiki, or /begin for users without a wiki. */
export function homeUrl({ session, wikis }: Overview): string {
  const current = wikis.find(({ organization_id }) => organization_id === session.organization_id) ?? wikis[0];
  const workspace = session.organizations.find(({ organization_id }) => organization_id === current?.organization_id);
  return current && workspace ? `/${workspace.slug}/${current.slug}` : '/begin';
}
