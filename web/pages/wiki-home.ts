import type { Page } from '../../src/pages/schema.ts';
import type { Branch } from '../elements/branch.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { renderInWiki } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { branchesPath, loadBranches, renderTree, trailTo } from '../tree.ts';
import type { Visit, WebRoute } from '../visit.ts';
import { encodePath, loadWikiContext, requestedPath, type WikiContext } from '../wiki-context.ts';

/** The home page of a wiki: its pages at the root, or how to begin in an empty wiki. */
export const wikiHome: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const part = await readPart<Branch>(visit, branchesPath(context, ''), { address: context.actionUrl('pages') });
    const branches = part.records;
    const { wiki } = context;
    return {
      page: renderInWiki(visit, context, {
        title: wiki.title,
        tree: renderTree(context, branches),
        main: html`<article class="home">
          <header class="page-head"><h1>${wiki.title}</h1>${wiki.description !== '' && html`<p class="lead">${wiki.description}</p>`}</header>
          ${branches.length === 0 ? emptyWiki(context) : pageCards(context, branches)}
          ${partLinks(part)}
        </article>`,
      }),
    };
  },
};

function emptyWiki(context: WikiContext): Content {
  return html`<div class="empty-state">
    <p class="lead">This wiki is empty.</p>
    ${
      context.can('uploads:create') || context.can('pages:write')
        ? html`<p>Upload a folder of notes or documents, and they become pages that can be searched. Or write the first page yourself.</p>
          <p class="row-of-buttons">${context.can('uploads:create') && html`<a class="button main" href="${context.actionUrl('upload')}">${icon('upload')} Upload files</a>`}
          ${context.can('pages:write') && html`<a class="button" href="${context.actionUrl('new')}">${icon('plus')} Write a page</a>`}</p>`
        : html`<p>There are no pages to read yet. Look again later.</p>`
    }</div>`;
}

function pageCards(context: WikiContext, branches: readonly Branch[]): Content {
  return html`<ul class="doors">${branches.map(
    ({ path, title, has_children, status }) => html`<li><a href="${context.pageUrl(path)}"><strong>${title}</strong>
      <span class="small">${has_children ? 'Subpages' : 'Page'}${status !== 'published' && ` · ${status}`}</span></a></li>`,
  )}</ul>`;
}

async function renderBranch(visit: Visit, path: string) {
  const context = await loadWikiContext(visit);
  const page = path === '' ? undefined : await visit.api.get<Page>(`${context.api}/pages/path/${encodePath(path)}`);
  const id = page?.page_id ?? '';
  const part = await readPart<Branch>(visit, branchesPath(context, id));
  const around = part.isFirst ? part.records : await loadBranches(visit.api, context, id);
  const below = part.records.filter(({ parent_page_id }) => parent_page_id === id);
  const title = page ? `Subpages of ${page.title}` : `All of ${context.wiki.title}`;
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

/** The pages below a page, in parts: for branches too long for the tree, and for browsers without scripts. */
export const branchPages: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/pages/*',
  handle: (visit) => renderBranch(visit, requestedPath(visit)),
};

export const rootPages: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/pages',
  handle: (visit) => renderBranch(visit, ''),
};
