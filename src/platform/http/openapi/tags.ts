import type { Endpoint } from '../endpoint.ts';

interface Tag {
  /** Replaces the title that is derived from the slug. */
  title?: string;
  description: string;
}

/**
 * The groups of endpoints by kind, in display order: the groups that open the API's specification first, widgets last.
 */
const GROUPS: Record<string, Record<string, Tag>> = {
  Essentials: {
    onboarding: { description: 'The first call of a client.' },
    overview: { description: 'Workspaces and wikis of the caller.' },
    workspaces: { description: 'Workspaces, also called organizations: they own everything else.' },
    members: { description: 'Members of a workspace, their roles, and the seats.' },
    wikis: { description: 'Wikis of a workspace.' },
    uploads: { description: 'Files from which sources and pages are made.' },
    pages: { description: 'Pages, to read and to write.' },
    billing: { description: 'What a plan would cost, what is paid, and invoices.' },
    'widget-token': { description: 'Short-lived tokens for widgets that are embedded in other sites.' },
  },
  'Sources and jobs': {
    sources: { description: 'Uploaded documents, to read and to search.' },
    jobs: { description: 'Background work on uploads, exports and imports.' },
    exports: { description: 'Archives of a wiki.' },
    imports: { description: 'Archives from which pages are made.' },
  },
  'Reading and writing': {
    tree: { description: 'All pages of a wiki at once.' },
    branches: { description: 'The tree of pages, branch by branch.' },
    'recent-pages': { description: 'Pages that were changed last.' },
    'starred-pages': { description: 'Pages that a person wants at hand, for that person alone.' },
    tags: { description: 'Tags of pages.' },
    suggest: { title: 'Suggestions', description: 'Suggestions while typing.' },
    'saved-searches': { description: 'Searches that a person has given a name, for that person alone.' },
    preview: { title: 'Previews', description: 'How a text would look as a page.' },
    autosaves: { description: 'Texts that are being written, each for its writer alone.' },
    templates: { description: 'Pages that new pages are begun from.' },
    attachments: { description: 'Pictures and files of pages.' },
    trash: { description: 'Pages that were deleted and can be restored.' },
  },
  'Accounts and access': {
    me: { title: 'Own account', description: "The caller's own account." },
    auth: { title: 'Signing in', description: 'Signing in and out.' },
    'api-keys': { title: 'API keys', description: 'Credentials for programs.' },
    invitations: { description: 'How people join a workspace.' },
    avatars: { description: 'Pictures of users.' },
  },
  Administration: {
    plans: { description: 'The plans that a workspace can be on.' },
    'audit-events': { description: 'Who did what in a workspace.' },
    'request-log': { description: 'The last calls of programs in a workspace.' },
    retention: { description: 'How long a workspace keeps what is not used any more.' },
    'legal-hold': { description: 'While it is set, nothing is deleted for good.' },
    webhooks: { description: 'Messages of the payment provider.' },
  },
  Widgets: {
    'widget-origins': { description: 'The sites that may show the widgets.' },
    'widget-frames': { description: 'Widgets in frames.' },
    widgets: {
      description: 'What the widgets show, and operations from above as the token of a widget may call them.',
    },
  },
};

export const TAGS: Record<string, Tag> = Object.assign({}, ...Object.values(GROUPS));

/** Returns the tags of these endpoints in order, and their groups (`x-tagGroups`). */
export function describeTags(endpoints: readonly Endpoint[]) {
  const used = new Set(endpoints.map(tagOf));
  const unknown = [...used].filter((name) => !(name in TAGS));
  if (unknown.length > 0) throw new Error(`GROUPS in tags.ts has no ${unknown.join(', ')}`);
  return {
    tags: Object.entries(TAGS)
      .filter(([name]) => used.has(name))
      .map(([name, { title = inWords(name), description }]) => ({ name, 'x-displayName': title, description })),
    'x-tagGroups': Object.entries(GROUPS)
      .map(([name, tags]) => ({ name, tags: Object.keys(tags).filter((tag) => used.has(tag)) }))
      .filter(({ tags }) => tags.length > 0),
  };
}

/** Converts a slug to words: `audit-events` becomes Audit events. */
function inWords(slug: string): string {
  return `${slug.charAt(0).toUpperCase()}${slug.slice(1).replaceAll('-', ' ')}`;
}

/** Returns the group of an endpoint: the resource in its path, or the resource inside a wiki or workspace. */
export function tagOf(endpoint: Endpoint): string {
  const [container = '', inside = ''] = endpoint.path
    .split('/')
    .slice(2)
    .filter((segment) => !/^[:*]/.test(segment));
  return inside in TAGS && /^(wikis|workspaces|organizations)$/.test(container) ? inside : container;
}
