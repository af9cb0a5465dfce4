import { Problem, problemForForm } from './api.ts';
import { PAINTED_WITH, renderDocument } from './document.ts';
import { type Content, type Html, html } from './html.ts';
import { loadSettingsContext, type SettingsContext } from './settings-context.ts';
import { problemWithAdvice } from './settings-forms.ts';
import { userMenu, wikiSwitcher } from './user-menu.ts';
import type { Visit, WebResponse, WebRoute } from './visit.ts';

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
      return shown(visit, context, problemWithAdvice(problem), problem.status);
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
    isPaintedLate: true,
    scripts: ['settings.js', ...scripts],
    body: html`
<a class="skip" href="#main">Skip to the settings</a>
<header class="top">
  <a class="brand" href="${home}"><span class="mark" aria-hidden="true">ib.</span><span class="brand-name">${workspace.name}</span></a>
  ${wikiSwitcher({ ...context, wiki: undefined })}
  <nav class="do last" aria-label="Actions">
    <a class="button quiet always" href="${home}">Back to the wiki</a>
    ${userMenu(visit, context)}
  </nav>
</header>
<div class="frame">
  ${sectionNav(visit, context)}
  <main id="main" tabindex="-1"><div class="page-bar"><nav class="crumbs" aria-label="Where this is"><ol><li><a href="${home}">${workspace.name}</a></li><li><span>Settings</span></li></ol></nav></div><article class="settings"><h1>${title}</h1>${main}</article></main>
  <footer class="end">${workspace.name} · <a href="/docs">API</a></footer>
</div>${PAINTED_WITH}`,
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
      ${entry(context.can('members:read'), context.sectionUrl('usage'), 'Usage')}
      ${entry(context.can('enterprise:manage'), context.sectionUrl('audit'), 'Audit log')}</ul>`
    }
    <h2>You</h2><ul>${entry(true, '/me', 'Profile')}${entry(true, '/me/keys', 'Your API keys')}</ul>
  </nav>`;
}
