import type { Organization, Overview, User } from '../src/organization/workspaces/schema.ts';
import { NOT_ALLOWED } from '../src/platform/core/errors.ts';
import type { OrganizationWiki } from '../src/wiki/wikis/schema.ts';
import { Problem } from './api.ts';
import type { Visit } from './visit.ts';

/** The wiki in the address, as the user sees it. */
export interface WikiContext {
  user: User;
  workspace: Organization;
  wiki: OrganizationWiki;
  /** The wiki, and the first other wikis of the user. */
  overview: Overview;
  /** Returns whether the user has a permission, such as `pages:write`. */
  can(permission: string): boolean;
  /** Returns the address of a page; without a path, the address of the wiki. */
  pageUrl(path?: string): string;
  /**
   * Returns the address of an action on the wiki or on a page. It starts with `-`, which is never the slug of a page.
   */
  actionUrl(action: string, path?: string): string;
  api: string;
}

/** Throws Problem 404 for a wiki that does not exist or that the user cannot see. */
export async function loadWikiContext(visit: Visit): Promise<WikiContext> {
  const { workspace: workspaceSlug = '', wiki: wikiSlug = '' } = visit.params;
  const near = new URLSearchParams({ near: `${workspaceSlug}/${wikiSlug}` });
  const overview = await visit.api.get<Overview>(`/v1/overview?${near}`);
  const workspace = overview.session.organizations.find(({ slug }) => slug === workspaceSlug);
  const wiki = overview.wikis.find((it) => it.slug === wikiSlug && it.organization_id === workspace?.organization_id);
  if (!workspace || !wiki) throw notFound(visit, 'wiki');
  return wikiContext(overview, workspace, wiki);
}

function wikiContext(overview: Overview, workspace: Organization, wiki: OrganizationWiki): WikiContext {
  const permissions = new Set(workspace.permissions);
  const root = `/${workspace.slug}/${wiki.slug}`;
  return {
    user: overview.session.user,
    workspace,
    wiki,
    overview,
    can: (permission) => permissions.has(permission),
    pageUrl: (path = '') => (path === '' ? root : `${root}/${path}`),
    actionUrl: (action, path = '') => `${root}/-/${action}${path === '' ? '' : `/${path}`}`,
    api: `/v1/wikis/${wiki.wiki_id}`,
  };
}

export function notFound({ request }: Visit, what: string): Problem {
  return new Problem(404, { error: 'not_found', message: `There is no such ${what}.`, request_id: request.id });
}

/** Throws Problem 403 for a user whose role lacks the permission. */
export function requirePermission(visit: Visit, context: WikiContext, permission: string): void {
  if (context.can(permission)) return;
  throw new Problem(403, {
    error: 'forbidden',
    message: NOT_ALLOWED,
    request_id: visit.request.id,
  });
}

/** Returns the path of the page in the address, without a trailing slash. */
export function requestedPath({ params }: Visit): string {
  return (params['*'] ?? '').replace(/\/+$/, '');
}

/** Percent-encodes a page path for an API path. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
