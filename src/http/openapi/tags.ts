import type { Endpoint } from '../endpoint.ts';

/** The groups of endpoints and their descriptions. */
export const TAGS: Record<string, string> = {
  onboarding: 'The first call of a client.',
  overview: 'Workspaces and wikis of the caller.',
  workspaces: 'Workspaces, also called organizations: they own everything else.',
  members: 'Members of a workspace, their roles, and the seats.',
  invitations: 'How people join a workspace.',
  'api-keys': 'Credentials for programs.',
  'audit-events': 'Who did what in a workspace.',
  retention: 'How long a workspace keeps what is not used any more.',
  'legal-hold': 'While it is set, nothing is deleted for good.',
  'request-log': 'The last calls of programs in a workspace.',
  me: "The caller's own account.",
  avatars: 'Pictures of users.',
  auth: 'Signing in and out.',
  'widget-token': 'Short-lived tokens for widgets that are embedded in other sites.',
  widgets: 'What the widgets show.',
  'widget-origins': 'The sites that may show the widgets.',
  'widget-frames': 'Widgets in frames.',
  plans: 'The plans that a workspace can be on.',
  billing: 'What a plan would cost, what is paid, and invoices.',
  webhooks: 'Messages of the payment provider.',
  wikis: 'Wikis of a workspace.',
  uploads: 'Files from which sources and pages are made.',
  exports: 'Archives of a wiki.',
  imports: 'Archives from which pages are made.',
  jobs: 'Background work on uploads, exports and imports.',
  sources: 'Uploaded documents, to read and to search.',
  pages: 'Pages, to read and to write.',
  'recent-pages': 'Pages that were changed last.',
  suggest: 'Suggestions while typing.',
  tags: 'Tags of pages.',
  tree: 'All pages of a wiki at once.',
  branches: 'The tree of pages, branch by branch.',
  preview: 'How a text would look as a page.',
  trash: 'Pages that were deleted and can be restored.',
  autosaves: 'Texts that are being written, each for its writer alone.',
  'saved-searches': 'Searches that a person has given a name, for that person alone.',
  'starred-pages': 'Pages that a person wants at hand, for that person alone.',
  templates: 'Pages that new pages are begun from.',
  attachments: 'Pictures and files of pages.',
};

/** The group of an endpoint: the resource of its path, or the resource inside a wiki or workspace. */
export function tagOf(endpoint: Endpoint): string {
  const [container = '', inside = ''] = endpoint.path
    .split('/')
    .slice(2)
    .filter((segment) => !/^[:*]/.test(segment));
  return inside in TAGS && /^(wikis|workspaces|organizations)$/.test(container) ? inside : container;
}
