import type { Endpoint } from '../endpoint.ts';

/** What the groups of endpoints are about. */
export const TAGS: Record<string, string> = {
  onboarding: 'The first call of a client.',
  overview: 'What the caller has.',
  workspaces: 'Workspaces, also called organizations: they own everything else.',
  members: 'Who belongs to a workspace, in which role, and the seats.',
  invitations: 'How people come to belong to a workspace.',
  'api-keys': 'Credentials for programs.',
  'audit-events': 'Who did what in a workspace.',
  me: "The caller's own things.",
  auth: 'Signing in and out.',
  'widget-token': 'Short tokens for widgets that are embedded in other sites.',
  widgets: 'What the widgets show.',
  'widget-origins': 'The sites that may show the widgets.',
  'widget-frames': 'Widgets in frames.',
  plans: 'What a workspace can be on.',
  billing: 'What a plan would cost.',
  wikis: 'Wikis of a workspace.',
  uploads: 'Files that are handed over.',
  exports: 'Archives of a wiki.',
  imports: 'Archives that become pages.',
  jobs: 'The work that makes sources and pages of uploads.',
  sources: 'What was handed over, as it can be read and searched.',
  pages: 'What readers see and writers write.',
  suggest: 'What may be meant by what is being typed.',
  tree: 'All pages of a wiki at once.',
  branches: 'The tree of pages, branch by branch.',
  preview: 'What a text would be as a page.',
  trash: 'Pages that were deleted and can be restored.',
  attachments: 'Pictures and files of pages.',
};

/** The group of an endpoint: what its path is about, or what in a wiki or workspace. */
export function tagOf(endpoint: Endpoint): string {
  const [container = '', inside = ''] = endpoint.path
    .split('/')
    .slice(2)
    .filter((segment) => !/^[:*]/.test(segment));
  return inside in TAGS && /^(wikis|workspaces|organizations)$/.test(container) ? inside : container;
}
