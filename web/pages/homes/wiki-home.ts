import type { Autosave } from '../../../src/wiki/autosaves/schema.ts';
import type { Page } from '../../../src/wiki/pages/schema.ts';
import type { Branch } from '../../elements/branch.ts';
import { type Content, html, nothing } from '../../html.ts';
import { icon } from '../../icons.ts';
import { renderInWiki, time } from '../../layout.ts';
import { partLinks, readPart } from '../../paging.ts';
import { branchesPath, loadBranches, renderTree, trailTo } from '../../tree.ts';
import type { Visit, WebResponse, WebRoute } from '../../visit.ts';
import { encodePath, loadWikiContext, requestedPath, type WikiContext } from '../../wiki-context.ts';
import { homeNote, loadHome } from './chosen-home.ts';
import { loadNames } from './recent-changes.ts';
import { loadStarred, starredList } from './stars.ts';

/** Number of changed pages to load; the user's own drafts are among them. */
const CHANGED_READ = 20;
const SHOWN = 8;

/** Redirects to the home page that members have chosen; otherwise shows the overview. */
export const wikiHome: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki',
  showsPages: true,
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const home = await loadHome(visit.api, context);
    return home ? { redirect: context.pageUrl(home.path) } : renderOverview(visit, context, undefined);
  },
};

/** The overview, with the option to remove the home page. */
export const overview: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/overview',
  showsPages: true,
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    return renderOverview(visit, context, await loadHome(visit.api, context));
  },
};

/**
 * Renders the overview of a wiki: the user's unsaved texts, drafts and starred pages, the pages at the root, and recent
 * changes. In an empty wiki it shows how to begin.
 */
async function renderOverview(visit: Visit, context: WikiContext, home: Page | undefined): Promise<WebResponse> {
  const [part, changed, unsaved, starred] = await Promise.all([
    readPart<Branch>(visit, branchesPath(context, ''), { address: context.actionUrl('pages') }),
    visit.api.get<Page[]>(`${context.api}/recent-pages?limit=${CHANGED_READ}`),
    context.can('pages:write') ? loadUnsaved(visit, context) : [],
    loadStarred(visit, context),
  ]);
  const names = await loadNames(visit.api, context, changed);
  const branches = await withOnlyRoot(visit, context, part.records);
  const { wiki } = context;
  const isEmpty = branches.length === 0;
  return {
    page: renderInWiki(visit, context, {
      title: wiki.title,
      tree: renderTree(context, branches, '', branches[0]?.page_id),
      main: html`<article class="home">
          <header class="page-head"><h1>${wiki.title}</h1>${wiki.description !== '' && html`<p class="lead">${wiki.description}</p>`}</header>
          ${home && homeNote(context, home)}
          ${unsavedList(context, unsaved)}
          ${starredList(context, starred)}
          ${isEmpty ? emptyWiki(context) : html`<section><h2>Pages</h2>${pageCards(context, branches)}${partLinks(part)}</section>`}
          ${changedList(context, changed, names)}
          ${draftList(context, changed)}
          ${!isEmpty && html`<p class="row-of-buttons"><a class="button" href="${context.actionUrl('tags')}">Tags</a>${context.can('pages:write') && html` <a class="button" href="${context.actionUrl('templates')}">Templates</a>`}</p>`}
        </article>`,
    }),
  };
}

/** A wiki that was uploaded as one folder has one page at its root: in that case, returns the pages below it. */
async function withOnlyRoot(
  { api }: Visit,
  context: WikiContext,
  roots: readonly Branch[],
): Promise<readonly Branch[]> {
  const [only, ...others] = roots;
  return only?.has_children && others.length === 0 ? loadBranches(api, context, only.page_id) : roots;
}

/** Loads the user's unsaved texts, latest first. */
async function loadUnsaved({ api }: Visit, context: WikiContext): Promise<Autosave[]> {
  const all = await api.get<Autosave[]>(`${context.api}/autosaves?limit=100`);
  return all.sort((one, other) => other.updated_at.localeCompare(one.updated_at)).slice(0, SHOWN);
}

function unsavedList(context: WikiContext, unsaved: readonly Autosave[]): Content {
  if (unsaved.length === 0) return nothing;
  const address = ({ autosave_id, page_id, parent_page_id }: Autosave) =>
    page_id === ''
      ? `${context.actionUrl('new')}?${new URLSearchParams({ ...(parent_page_id !== '' && { parent: parent_page_id }), draft: autosave_id })}`
      : `${context.actionUrl('edit')}?page=${page_id}`;
  return html`<section><h2>Unsaved changes</h2><ul class="list">${unsaved.map(
    (it) => html`<li><a href="${address(it)}" dir="auto">${it.title || 'Untitled'}</a>
      <span class="small">${it.page_id === '' ? 'New page' : 'Changes to a page'}, ${time(it.updated_at)}</span></li>`,
  )}</ul></section>`;
}

/** Lists recent changes, with the names of their authors where known. */
function changedList(context: WikiContext, changed: readonly Page[], names: ReadonlyMap<string, string>): Content {
  if (changed.length === 0) return nothing;
  return html`<section class="changed"><h2>Recently changed</h2><ul class="list">${changed.slice(0, SHOWN).map((it) => {
    const name = names.get(it.updated_by) ?? '';
    return html`<li><a href="${context.pageUrl(it.path)}" dir="auto">${it.title}</a>${draftTag(it)}
      <span class="small">${name !== '' && html`<span dir="auto">${name}</span>, `}${time(it.updated_at)}</span>
      ${it.description !== '' && html`<p class="small excerpt"><bdi>${it.description}</bdi></p>`}</li>`;
  })}</ul></section>`;
}

function draftList(context: WikiContext, changed: readonly Page[]): Content {
  const own = changed.filter(({ status, created_by }) => status === 'draft' && created_by === context.user.user_id);
  if (own.length === 0) return nothing;
  const all = new URLSearchParams({ query: 'author:me', status: 'draft' });
  return html`<section class="changed"><h2>Your drafts</h2><ul class="list">${own
    .slice(0, SHOWN)
    .map(
      (it) =>
        html`<li><a href="${context.pageUrl(it.path)}" dir="auto">${it.title}</a> <span class="small">${time(it.updated_at)}</span></li>`,
    )}</ul><p class="small"><a href="${context.actionUrl('search')}?${all.toString()}">All your drafts</a></p></section>`;
}

function draftTag({ status }: Page): Content {
  return status !== 'published' && html` <span class="tag">${status}</span>`;
}

function emptyWiki(context: WikiContext): Content {
  return html`<div class="empty-state">
    <p class="lead">This wiki is empty.</p>
    ${
      context.can('uploads:create') || context.can('pages:write')
        ? html`<p>Upload a folder of notes or documents to turn them into searchable pages, or write the first page yourself.</p>
          <p class="row-of-buttons">${context.can('uploads:create') && html`<a class="button main" href="${context.actionUrl('upload')}">${icon('upload')} Upload files</a>`}
          ${context.can('pages:write') && html`<a class="button" href="${context.actionUrl('new')}">${icon('plus')} Write a page</a>`}</p>`
        : html`<p>There are no pages yet. Check back later.</p>`
    }</div>`;
}

function pageCards(context: WikiContext, branches: readonly Branch[]): Content {
  return html`<ul class="doors">${branches.map(
    ({ path, title, has_children, status }) =>
      html`<li><a href="${context.pageUrl(path)}">${icon(has_children ? 'pages' : 'page')}<strong>${title}</strong>${
        status !== 'published' && html`<span class="tag">${status}</span>`
      }</a></li>`,
  )}</ul>`;
}

async function renderBranch(visit: Visit, path: string) {
  const context = await loadWikiContext(visit);
  const page = path === '' ? undefined : await visit.api.get<Page>(`${context.api}/pages/path/${encodePath(path)}`);
  const id = page?.page_id ?? '';
  const part = await readPart<Branch>(visit, branchesPath(context, id));
  const around = part.isFirst ? part.records : await loadBranches(visit.api, context, id);
  const below = part.records.filter(({ parent_page_id }) => parent_page_id === id);
  const title = page ? `Subpages of ${page.title}` : `All pages of ${context.wiki.title}`;
  return {
    page: renderInWiki(visit, context, {
      title,
      tree: renderTree(context, around, id),
      trail: trailTo(around, id),
      main: html`<article><h1>${title}</h1>
        ${below.length === 0 ? html`<p class="empty">No ${part.isFirst ? '' : 'more '}pages here.</p>` : pageCards(context, below)}
        ${partLinks(part)}
      </article>`,
    }),
  };
}

/** Lists the pages below a page, in parts: for branches too long for the tree, and for browsers without scripts. */
export const branchPages: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/pages/*',
  showsPages: true,
  handle: (visit) => renderBranch(visit, requestedPath(visit)),
};

export const rootPages: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/pages',
  showsPages: true,
  handle: (visit) => renderBranch(visit, ''),
};
