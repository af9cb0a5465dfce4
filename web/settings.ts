import type { Static } from 'typebox';
import type { Organization, User } from '../src/workspaces/schema.ts';
import { Problem, problemForForm } from './api.ts';
import { renderDocument } from './document.ts';
import { type Content, type Html, html } from './html.ts';
import { userMenu } from './layout.ts';
import type { Visit, WebResponse, WebRoute } from './visit.ts';
import { notFound, type Overview, type WikiEntry } from './wiki-context.ts';

/** Where settings are looked at: one's own, or those of a workspace. */
export interface SettingsContext {
  user: User;
  overview: Overview;
  /** The one of the address; on pages about oneself the one that was used last. */
  workspace: Static<typeof Organization>;
  wiki: WikiEntry | undefined;
  can(permission: string): boolean;
  /** The path of the workspace in the API. */
  api: string;
  /** The address of one of its settings. */
  sectionUrl(section: string): string;
}

/** Somebody in no workspace at all still has settings of their own. */
const NO_WORKSPACE = { organization_id: '', name: 'Ibid', slug: '', role: '', permissions: [] };

/** Errors: Problem 404 for a workspace that is not there, or not the visitor's to see. */
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

/** What a form does. Answers a word for what is said of it, or what is shown at once. Errors: Problem, shown above the page. */
export type Action = (visit: Visit, context: SettingsContext) => Promise<string | WebResponse>;

export interface SettingsPage {
  path: string;
  title: string;
  /** What a page says when something was done, by the word that the deed has answered. */
  flashMessages: Record<string, string>;
  actions: Record<string, Action>;
  scripts?: readonly string[];
  main(visit: Visit, context: SettingsContext): Promise<Content>;
}

/** A page and what its forms do; each form says in its field `do` which deed it is. */
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
    if (!action) throw new Problem(400, { message: 'The form was not whole.', request_id: visit.request.id });
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

/** What a request names is ours to have: an object has more than we gave it. */
function ownEntry<T>(entries: Record<string, T>, name: string | null): T | undefined {
  return name !== null && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** The frame of all settings: what there is to set, of the workspace and of oneself. */
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
  not_found: 'Somebody may have changed it meanwhile: this page shows how it is now.',
  conflict: 'Somebody may have changed it meanwhile: this page shows how it is now.',
  rate_limited: 'Wait a while, then send it again.',
};

/** What a refused form was refused for, what to do, and the request's id. */
function problemNote({ message, code, request_id }: Problem): Html {
  return html`<div class="note bad" role="alert"><p>${message}</p>${ADVICE[code] !== undefined && html`<p>${ADVICE[code]}</p>`}
    <p class="small">Request <code>${request_id}</code></p></div>`;
}

/** A button that does one thing, with what it needs to know. */
export function actionButton(action: string, fields: Record<string, string>, label: Content, kind = ''): Html {
  return html`<form method="post">${hiddenFields({ do: action, ...fields })}<button class="button ${kind}">${label}</button></form>`;
}

export function hiddenFields(fields: Record<string, string>): Html {
  return html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** A button that cannot be pressed by mistake: it is behind a word, and what it does is said beside it. */
export function disclosure(name: Content, what: Content, button: Content): Html {
  return html`<details class="guarded"><summary>${name}</summary><div><p>${what}</p>${button}</div></details>`;
}

/** A token for a widget of the visitor's own. Errors: Problem 403 where they may not have one. */
export async function issueWidgetToken({ api }: Visit, context: SettingsContext, widget: string): Promise<string> {
  return (await api.post<{ token: string }>(`${context.api}/widget-token`, { widget })).token;
}
