import type { Static } from 'typebox';
import type { Organization, User } from '../src/workspaces/schema.ts';
import { Problem } from './api.ts';
import type { Visit } from './visit.ts';

export interface WikiEntry {
  organization_id: string;
  wiki_id: string;
  slug: string;
  title: string;
  description: string;
}

export interface Overview {
  session: { organizations: Static<typeof Organization>[]; user: User; organization_id: string };
  wikis: WikiEntry[];
}

/** The wiki that an address names, as its reader sees it. */
export interface WikiContext {
  user: User;
  workspace: Static<typeof Organization>;
  wiki: WikiEntry;
  overview: Overview;
  /** What the reader may do, as `resource:action`. */
  can(permission: string): boolean;
  /** The address of a page, or of the wiki. */
  pageUrl(path?: string): string;
  /** The address of something to do, about a page or the wiki: a name that no page can have stands before it. */
  actionUrl(action: string, path?: string): string;
  /** The path of the wiki in the API. */
  api: string;
}

/** Errors: Problem 404 for a wiki that is not there, or not the reader's to see. */
export async function loadWikiContext(visit: Visit): Promise<WikiContext> {
  const { workspace: workspaceSlug, wiki: wikiSlug } = visit.params;
  const overview = await visit.api.get<Overview>('/v1/overview');
  const workspace = overview.session.organizations.find(({ slug }) => slug === workspaceSlug);
  const wiki = overview.wikis.find((it) => it.slug === wikiSlug && it.organization_id === workspace?.organization_id);
  if (!workspace || !wiki) throw notFound(visit, 'wiki');
  return wikiContext(overview, workspace, wiki);
}

export function wikiContext(overview: Overview, workspace: Static<typeof Organization>, wiki: WikiEntry): WikiContext {
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

/** The path of a page behind an action's address. */
export function requestedPath({ params }: Visit): string {
  return (params['*'] ?? '').replace(/\/+$/, '');
}

/** A path as the API takes it. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
