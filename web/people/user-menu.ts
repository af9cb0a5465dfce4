import { type Content, type Html, html } from '../html.ts';
import { icon } from '../icons.ts';
import type { Visit } from '../visit.ts';
import type { WikiContext } from '../wiki-context.ts';
import { face } from './face.ts';

interface UserMenuContext extends Pick<WikiContext, 'user' | 'workspace' | 'overview'> {
  wiki?: WikiContext['wiki'] | undefined;
}

const SHOWN = 20;

/** A menu of the workspace's wikis, next to the name of the current wiki. */
export function wikiSwitcher({ workspace, wiki, overview }: UserMenuContext): Content {
  const all = overview.wikis.filter(({ organization_id }) => organization_id === workspace.organization_id);
  if (all.length < 2) return false;
  return html`<details class="switcher">
    <summary aria-label="Wikis of ${workspace.name}" title="Wikis of ${workspace.name}">${icon('chevron')}</summary>
    <div class="menu-box"><ul>${all
      .slice(0, SHOWN)
      .map(
        (it) =>
          html`<li><a href="/${workspace.slug}/${it.slug}"${it.wiki_id === wiki?.wiki_id && html` aria-current="true"`}>${it.title}</a></li>`,
      )}</ul>
    <ul><li><a href="/${workspace.slug}">All wikis</a></li></ul></div>
  </details>`;
}

export function userMenu(visit: Visit, { user, workspace, wiki, overview }: UserMenuContext): Html {
  const others = overview.wikis
    .filter(
      ({ wiki_id, organization_id }) => wiki_id !== wiki?.wiki_id && organization_id !== workspace.organization_id,
    )
    .slice(0, SHOWN);
  const slugOf = new Map(overview.session.organizations.map((it) => [it.organization_id, it.slug]));
  return html`<details class="menu">
    <summary aria-label="Your account and wikis">${face(user)}</summary>
    <div class="menu-box">
      <p class="menu-who"><strong>${user.display_name}</strong><br><span>${user.email}</span>${workspace.role !== '' && html`<br><span>${workspace.role} of ${workspace.name}</span>`}</p>
      <ul>${workspace.permissions.includes('members:read') && html`<li><a href="/${workspace.slug}/-/members">Settings for ${workspace.name}</a></li>`}<li><a href="/me">Your profile</a></li></ul>
      ${others.length > 0 && html`<ul>${others.map((it) => html`<li><a href="/${slugOf.get(it.organization_id) ?? ''}/${it.slug}">${it.title}</a></li>`)}</ul>`}
      ${themeForm(visit)}
      <form method="post" action="/sign-out"><button class="button quiet wide">Sign out</button></form>
    </div>
  </details>`;
}

const THEMES = { auto: 'Auto', light: 'Light', dark: 'Dark' } as const;

export function themeForm({ theme, request }: Visit): Html {
  return html`<form class="theme" method="post" action="/theme" aria-label="Theme">
    <input type="hidden" name="next" value="${request.method === 'GET' ? request.url : '/'}">
    ${Object.entries(THEMES).map(([value, name]) => html`<button name="theme" value="${value}" aria-pressed="${String(value === theme)}">${name}</button>`)}
  </form>`;
}
