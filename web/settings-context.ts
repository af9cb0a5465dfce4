import type { Organization, Overview, User } from '../src/organization/workspaces/schema.ts';
import type { OrganizationWiki } from '../src/wiki/wikis/schema.ts';
import { Problem } from './api.ts';
import type { Visit } from './visit.ts';
import { notFound } from './wiki-context.ts';

export interface SettingsContext {
  user: User;
  overview: Overview;
  /** The workspace in the address; on the user's own pages the current workspace. */
  workspace: Organization;
  wiki: OrganizationWiki | undefined;
  can(permission: string): boolean;
  api: string;
  /** Returns the address of a settings page of the workspace. */
  sectionUrl(section: string): string;
}

/** Stands in for the workspace of users without one, whose own settings must still open. */
const NO_WORKSPACE = { organization_id: '', name: 'Ibid', slug: '', role: '', permissions: [] };

/** Throws Problem 404 for a workspace that does not exist or that the user is not a member of. */
export async function loadSettingsContext(visit: Visit): Promise<SettingsContext> {
  const overview = await visit.api.get<Overview>('/v1/overview');
  const { organizations, organization_id, user } = overview.session;
  const slug = visit.params.workspace;
  const workspace =
    slug === undefined
      ? (organizations.find((it) => it.organization_id === organization_id) ?? organizations[0] ?? NO_WORKSPACE)
      : organizations.find((it) => it.slug === slug);
  if (!workspace) throw notFound(visit, 'workspace');
  const permissions = new Set(workspace.permissions);
  return {
    user,
    overview,
    workspace,
    wiki: overview.wikis.find((it) => it.organization_id === workspace.organization_id),
    can: (permission) => permissions.has(permission),
    api: `/v1/workspaces/${workspace.organization_id}`,
    sectionUrl: (section) => `/${workspace.slug}/-/${section}`,
  };
}

/** Throws Problem 403 for a user whose role lacks the permission. */
export function requireSetting({ request }: Visit, context: SettingsContext, permission: string): void {
  if (context.can(permission)) return;
  const message = 'Your role does not allow this. Ask an owner or an admin of the workspace.';
  throw new Problem(403, { error: 'forbidden', message, request_id: request.id });
}

/** Issues a widget token for the user. Throws Problem 403 without the permission that the widget needs. */
export async function issueWidgetToken({ api }: Visit, context: SettingsContext, widget: string): Promise<string> {
  return (await api.post<{ token: string }>(`${context.api}/widget-token`, { widget })).token;
}
