import type { Organization, Overview, User, WikiOfOrganization } from '../src/workspaces/schema.ts';
import { Problem, problemForForm } from './api.ts';
import { renderDocument } from './document.ts';
import { type Content, type Html, html } from './html.ts';
import { userMenu } from './layout.ts';
import type { Visit, WebResponse, WebRoute } from './visit.ts';
import { notFound } from './wiki-context.ts';

/** What a settings page knows of its user and workspace. */
export interface SettingsContext {
  user: User;
  overview: Overview;
  /** The workspace that the address names; on the user's own pages the current one. */
  workspace: Organization;
  wiki: WikiOfOrganization | undefined;
  can(permission: string): boolean;
  /** The API path of the workspace. */
  api: string;
  /** The address of one of the workspace's settings pages. */
  sectionUrl(section: string): string;
}

/** Stands for the workspace of users who are in none: their own settings must still open. */
const NO_WORKSPACE = { organization_id: '', name: 'Ibid', slug: '', role: '', permissions: [] };

/** Errors: Problem 404 for a workspace that does not exist or that the user is not a member of. */
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

/** What a form does. Returns the key of a flash message, or a response of its own. Errors: Problem, shown above the page. */
export type Action = (visit: Visit, context: SettingsContext) => Promise<string | WebResponse>;

export interface SettingsPage {
  path: string;
  title: string;
  /** Shown after an action that returned the key. */
  flashMessages: Record<string, string>;
  actions: Record<string, Action>;
  scripts?: readonly string[];
  main(visit: Visit, context: SettingsContext): Promise<Content>;
}

/** The routes of a settings page and its forms. The field `do` of a form names the action. */
export function settingsPage(page: SettingsPage): [read: WebRoute, write: WebRoute] {
  const shown = async (visit: Visit, context: SettingsContext, note: Content, status = 200): Promise<WebResponse> => ({
    status,
    page: renderSettings(visit, context, page.title, html`${note}${await page.main(visit, context)}`, page.scripts),
  });
  const read = async (visit: Visit): Promise<WebResponse> => {
    const message = ownEntry(page.flashMessages, visit.query.get('flash'));
    const note = message !== undefined && html`<div class="note good" role="status"><p>${message}</p></div>`;
    return shown(visit, await loadSettingsContext(visit), note);
  };
  const write = async (visit: Visit): Promise<WebResponse> => {
    const context = await loadSettingsContext(visit);
    const action = ownEntry(page.actions, visit.form.get('do'));
    if (!action) throw new Problem(400, { message: 'The form is incomplete.', request_id: visit.request.id });
    try {
      const result = await action(visit, context);
      return typeof result === 'string' ? { redirect: `${visit.path}?flash=${result}` } : result;
    } catch (error) {
      const problem = problemForForm(error);
      return shown(visit, context, problemNote(problem), problem.status);
    }
  };
  return [
    { method: 'GET', path: page.path, handle: read },
    { method: 'POST', path: page.path, handle: write },
  ];
}

/** An own property: names come from requests, and every object inherits `constructor`. */
function ownEntry<T>(entries: Record<string, T>, name: string | null): T | undefined {
  return name !== null && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** A document with the navigation of all settings, of the workspace and of the user. */
export function renderSettings(
  visit: Visit,
  context: SettingsContext,
  title: string,
  main: Content,
  scripts: readonly string[] = [],
): Html {
  const { workspace, wiki } = context;
  const home = wiki ? `/${workspace.slug}/${wiki.slug}` : '/';
  return renderDocument(visit, {
    title: `${title} · ${workspace.name}`,
    kind: 'wiki',
    scripts: ['settings.js', ...scripts],
    body: html`
<a class="skip" href="#main">Skip to the settings</a>
<header class="top">
  <a class="brand" href="${home}"><span class="mark" aria-hidden="true">ib.</span><span class="brand-name">${workspace.name}</span></a>
  <nav class="do last" aria-label="Actions">
    <a class="button quiet always" href="${home}">Back to the wiki</a>
    ${userMenu(visit, context)}
  </nav>
</header>
<div class="frame">
  ${sectionNav(visit, context)}
  <main id="main" tabindex="-1"><article class="settings"><h1>${title}</h1>${main}</article></main>
</div>
<footer class="end">${workspace.name} · <a href="/docs">API</a></footer>`,
  });
}

function sectionNav({ path }: Visit, context: SettingsContext): Html {
  const { workspace } = context;
  const entry = (may: boolean, href: string, name: string) =>
    may && html`<li><a href="${href}"${path === href && html` aria-current="page"`}>${name}</a></li>`;
  return html`<nav class="sections" aria-label="Settings">
    ${
      workspace.slug !== '' &&
      html`<h2>${workspace.name}</h2><ul>
      ${entry(context.can('members:read'), context.sectionUrl('members'), 'Members')}
      ${entry(true, context.sectionUrl('wikis'), 'Wikis')}
      ${entry(context.can('developers:manage'), context.sectionUrl('keys'), 'API keys')}
      ${entry(context.can('developers:manage'), context.sectionUrl('widgets'), 'Widgets')}
      ${entry(context.can('billing:manage'), context.sectionUrl('billing'), 'Plan')}
      ${entry(context.can('enterprise:manage'), context.sectionUrl('audit'), 'Audit log')}</ul>`
    }
    <h2>You</h2><ul>${entry(true, '/me', 'Profile')}${entry(true, '/me/keys', 'Your API keys')}</ul>
  </nav>`;
}

const ADVICE: Record<string, string> = {
  forbidden: 'Ask an owner or an admin of the workspace.',
  role_not_grantable: 'Ask an owner to do it.',
  already_member: 'Look for them in the list of members below.',
  member_inactive: 'Reactivate them in the list of members below.',
  invitation_pending: 'You can send it again from the list below.',
  email_unavailable: 'Nothing was changed. Try again in a few minutes.',
  not_found: 'It may have been changed in the meantime: this page shows the current state.',
  conflict: 'It may have been changed in the meantime: this page shows the current state.',
  rate_limited: 'Wait a while, then send it again.',
};

/** Why a form was refused, what to do about it, and the request's id. */
function problemNote({ message, code, request_id }: Problem): Html {
  return html`<div class="note bad" role="alert"><p>${message}</p>${ADVICE[code] !== undefined && html`<p>${ADVICE[code]}</p>`}
    <p class="small">Request <code>${request_id}</code></p></div>`;
}

/** A form of one button and hidden fields. */
export function actionButton(action: string, fields: Record<string, string>, label: Content, kind = ''): Html {
  return html`<form method="post">${hiddenFields({ do: action, ...fields })}<button class="button ${kind}">${label}</button></form>`;
}

export function hiddenFields(fields: Record<string, string>): Html {
  return html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** Folds a dangerous button away, with an explanation beside it, so that it is not pressed by mistake. */
export function disclosure(name: Content, what: Content, button: Content): Html {
  return html`<details class="guarded"><summary>${name}</summary><div><p>${what}</p>${button}</div></details>`;
}

/** A widget token of the user's own. Errors: Problem 403 without the permission that the widget needs. */
export async function issueWidgetToken({ api }: Visit, context: SettingsContext, widget: string): Promise<string> {
  return (await api.post<{ token: string }>(`${context.api}/widget-token`, { widget })).token;
}
