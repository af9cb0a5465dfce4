import type { Member, MembersList } from '../../../src/organization/members/schema.ts';
import type { Page } from '../../../src/wiki/pages/schema.ts';
import type { OrganizationWiki } from '../../../src/wiki/wikis/schema.ts';
import { renderDocument } from '../../document.ts';
import { type Content, type Html, html, nothing } from '../../html.ts';
import { time } from '../../layout.ts';
import { brand } from '../../people/brand.ts';
import { userMenu } from '../../people/user-menu.ts';
import { loadSettingsContext, type SettingsContext } from '../../settings-context.ts';
import type { Visit, WebRoute } from '../../visit.ts';

/** Maximum number of wikis whose last change is shown, most recently changed first. */
const CHANGES_MAX = 100;
/** Members to show, and members to load, because some may be inactive. */
const MEMBERS_SHOWN = 12;
const MEMBERS_READ = 50;

interface WikiEntry {
  wiki: OrganizationWiki;
  /** The page that was changed last, if known. */
  changed: Page | undefined;
}

/** The wikis and members of a workspace. Redirects to the wiki if there is only one. */
export const workspace: WebRoute = {
  method: 'GET',
  path: '/:workspace',
  handle: async (visit) => {
    const context = await loadSettingsContext(visit);
    const { slug, organization_id } = context.workspace;
    const wikis = context.overview.wikis.filter((it) => it.organization_id === organization_id);
    if (wikis.length === 1) return { redirect: `/${slug}/${wikis[0]?.slug}` };
    const [changed, members] = await Promise.all([
      context.can('pages:read') ? loadLastChanges(visit, context) : [],
      context.can('members:read') ? loadMembers(visit, context) : undefined,
    ]);
    const changedIn = new Map(changed.map((page) => [page.wiki_id, page]));
    const entries = wikis.map((wiki) => ({ wiki, changed: changedIn.get(wiki.wiki_id) }));
    return { page: renderWorkspace(visit, context, entries, members) };
  },
};

/** Loads the last changed page of each wiki. */
function loadLastChanges({ api }: Visit, context: SettingsContext): Promise<Page[]> {
  return api.get(`${context.api}/recent-pages?per_wiki=1&limit=${CHANGES_MAX}`);
}

interface Members {
  first: Member[];
  active: number;
}

async function loadMembers({ api }: Visit, context: SettingsContext): Promise<Members> {
  const { members, seats } = await api.get<MembersList>(`${context.api}/members?limit=${MEMBERS_READ}`);
  const first = members.filter(({ status }) => status === 'active').slice(0, MEMBERS_SHOWN);
  return { first, active: seats.active };
}

function renderWorkspace(
  visit: Visit,
  context: SettingsContext,
  entries: readonly WikiEntry[],
  members: Members | undefined,
): Html {
  const { name, slug, organization_id } = context.workspace;
  return renderDocument(visit, {
    title: `${name} · Ibid`,
    kind: 'wiki',
    body: html`
<a class="skip" href="#main">Skip to wikis</a>
<header class="top">
  ${brand(`/${slug}`, name, organization_id)}
  <nav class="do last" aria-label="Actions">${userMenu(visit, { ...context, wiki: undefined })}</nav>
</header>
<div class="frame">
  <main id="main" tabindex="-1"><article class="home"><h1>${name}</h1>
    ${entries.length === 0 ? noWiki(context) : wikiList(slug, entries)}
    ${entries.length > 0 && context.can('wikis:create') && html`<p class="row-of-buttons"><a class="button" href="${context.sectionUrl('wikis')}">New wiki</a></p>`}
    ${memberList(context, members)}
  </article></main>
  <footer class="end">${name} · <a href="/docs">API</a></footer>
</div>`,
  });
}

function noWiki(context: SettingsContext): Content {
  return html`<div class="empty-state"><p class="lead">There are no wikis here that you can read.</p>
    ${
      context.can('wikis:create')
        ? html`<p class="row-of-buttons"><a class="button main" href="${context.sectionUrl('wikis')}">Create a wiki</a></p>`
        : html`<p>Ask a member of the workspace to create one.</p>`
    }</div>`;
}

function wikiList(slug: string, entries: readonly WikiEntry[]): Content {
  return html`<section><h2>Wikis</h2><ul class="list">${entries.map(({ wiki, changed }) => {
    const address = `/${slug}/${wiki.slug}`;
    return html`<li><a href="${address}" dir="auto"><strong>${wiki.title}</strong></a>
      ${wiki.description !== '' && html`<p class="excerpt" dir="auto">${wiki.description}</p>`}
      ${changed && html`<p class="small">Last changed: <a href="${address}/${changed.path}" dir="auto">${changed.title}</a>, ${time(changed.updated_at)}</p>`}</li>`;
  })}</ul></section>`;
}

function memberList(context: SettingsContext, members: Members | undefined): Content {
  if (members === undefined) return nothing;
  const { first, active } = members;
  return html`<section><h2>Members</h2><ul class="members">${first.map(
    ({ display_name, email, role }) =>
      html`<li dir="auto">${display_name || email} <span class="tag">${role}</span></li>`,
  )}</ul>
    <p class="row-of-buttons"><a class="button" href="${context.sectionUrl('members')}">${active > first.length ? `All ${active} members` : 'Members'}</a>${
      context.can('members:manage') &&
      html` <a class="button quiet" href="${context.sectionUrl('members')}">Invite people</a>`
    }</p></section>`;
}
