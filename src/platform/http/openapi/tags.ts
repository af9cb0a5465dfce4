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
    workspaces: { description: 'Workspaces, also called organizations, own everything else.' },
    members: { description: 'Members of a workspace, their roles and its seats.' },
    wikis: { description: 'Wikis of a workspace.' },
    uploads: { description: 'Files that become sources and pages.' },
    pages: { description: 'Reading and writing pages.' },
    billing: { description: 'Prices of plans, payments and invoices.' },
    'widget-token': { description: 'Short-lived tokens for widgets embedded in other sites.' },
  },
  'Sources and jobs': {
    sources: { description: 'Uploaded documents, and search in them.' },
    jobs: { description: 'Background work on uploads, exports and imports.' },
    exports: { description: 'Archives of a wiki.' },
    imports: { description: 'Archives that become pages.' },
  },
  'Reading and writing': {
    tree: { description: 'All pages of a wiki at once.' },
    branches: { description: 'The page tree, branch by branch.' },
    'recent-pages': { description: 'Recently changed pages.' },
    'starred-pages': { description: 'Pages that a user has starred, visible only to that user.' },
    tags: { description: 'Tags of pages.' },
    suggest: { title: 'Suggestions', description: 'Suggestions while typing.' },
    'saved-searches': { description: 'Searches that a user has saved, visible only to that user.' },
    preview: { title: 'Previews', description: 'Markdown rendered as a page.' },
    autosaves: { description: 'Unsaved texts, visible only to their authors.' },
    templates: { description: 'Pages that serve as templates for new pages.' },
    attachments: { description: 'Pictures and files of pages.' },
    trash: { description: 'Deleted pages that can be restored.' },
  },
  'Accounts and access': {
    me: { title: 'Own account', description: "The caller's own account." },
    auth: { title: 'Signing in', description: 'Signing in and out.' },
    'api-keys': { title: 'API keys', description: 'Credentials for programs.' },
    invitations: { description: 'Inviting people to a workspace.' },
    avatars: { description: 'Pictures of users.' },
  },
  Administration: {
    plans: { description: 'The available plans.' },
    'audit-events': { description: 'Actions in a workspace and who performed them.' },
    'request-log': { description: 'Recent API calls of programs in a workspace.' },
    retention: { description: 'How long a workspace keeps deleted and old data.' },
    'legal-hold': { description: 'Prevents permanent deletion while it is set.' },
    webhooks: { description: 'Events from the payment provider.' },
  },
  Widgets: {
    'widget-origins': { description: 'Sites that may embed the widgets.' },
    'widget-frames': { description: 'Widgets in frames.' },
    widgets: {
      description: 'Content of widgets, and the operations above that a widget token allows.',
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
