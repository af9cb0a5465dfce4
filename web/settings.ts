import { renderDocument } from './document.ts';
import { type Content, type Html, html } from './html.ts';
import { brand } from './people/brand.ts';
import { userMenu, wikiSwitcher } from './people/user-menu.ts';
import { loadSettingsContext, type SettingsContext } from './settings-context.ts';
import { type FormPage, formPage, sectionLinks } from './settings-forms.ts';
import type { Visit, WebRoute } from './visit.ts';

export interface SettingsPage extends FormPage<SettingsContext> {
  title: string;
  scripts?: readonly string[];
}

export function settingsPage({ title, scripts, ...page }: SettingsPage): [read: WebRoute, write: WebRoute] {
  return formPage(page, {
    load: loadSettingsContext,
    render: (visit, context, main) => renderSettings(visit, context, title, main, scripts),
  });
}

/** Renders a document with the navigation of all settings, of the workspace and of the user. */
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
<a class="skip" href="#main">Skip to settings</a>
<header class="top">
  ${brand(home, workspace.name, workspace.organization_id)}
  ${wikiSwitcher({ ...context, wiki: undefined })}
  <nav class="do last" aria-label="Actions">
    <a class="button quiet always" href="${home}">Back to the wiki</a>
    ${userMenu(visit, context)}
  </nav>
</header>
<div class="frame">
  ${sectionNav(visit, context)}
  <main id="main" tabindex="-1"><div class="page-bar"><nav class="crumbs" aria-label="Breadcrumbs"><ol><li><a href="${home}">${workspace.name}</a></li><li><span>Settings</span></li></ol></nav></div><article class="settings"><h1>${title}</h1>${main}</article></main>
  <footer class="end">${workspace.name} · <a href="/docs">API</a></footer>
</div>`,
  });
}

function sectionNav(visit: Visit, context: SettingsContext): Html {
  const { path } = visit;
  const { workspace } = context;
  const entry = (may: boolean, href: string, name: string) =>
    may && html`<li><a href="${href}"${path === href && html` aria-current="page"`}>${name}</a></li>`;
  return sectionLinks(
    'Settings',
    html`${
      workspace.slug !== '' &&
      html`<h2>${workspace.name}</h2><ul>
      ${entry(context.can('enterprise:manage'), context.sectionUrl('general'), 'General')}
      ${entry(context.can('members:read'), context.sectionUrl('members'), 'Members')}
      ${entry(true, context.sectionUrl('wikis'), 'Wikis')}
      ${entry(context.can('developers:manage'), context.sectionUrl('keys'), 'API keys')}
      ${entry(context.can('developers:manage'), context.sectionUrl('widgets'), 'Widgets')}
      ${entry(visit.hasPayments && context.can('billing:manage'), context.sectionUrl('billing'), 'Plan')}
      ${entry(context.can('members:read'), context.sectionUrl('usage'), 'Usage')}
      ${entry(context.can('enterprise:manage'), context.sectionUrl('audit'), 'Audit log')}
      ${entry(context.can('enterprise:manage'), context.sectionUrl('retention'), 'Retention')}</ul>`
    }
    <h2>You</h2><ul>${entry(true, '/me', 'Profile')}${entry(true, '/me/keys', 'Your API keys')}</ul>`,
  );
}
