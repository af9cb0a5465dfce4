import type { FullPage } from '../../src/wiki/pages/schema.ts';
import { problemForForm } from '../api.ts';
import { positionsFor } from '../elements/organize/positions.ts';
import { renameHeading } from '../elements/saving/rename-heading.ts';
import { type Content, html } from '../html.ts';
import { problemNote, renderInWiki } from '../layout.ts';
import { loadBranches, renderTree, trailTo } from '../tree.ts';
import type { Visit, WebResponse, WebRoute } from '../visit.ts';
import {
  encodePath,
  loadWikiContext,
  notFound,
  requestedPath,
  requirePermission,
  type WikiContext,
} from '../wiki-context.ts';

async function loadPage(visit: Visit): Promise<{ context: WikiContext; page: FullPage }> {
  const context = await loadWikiContext(visit);
  requirePermission(visit, context, 'pages:write');
  return { context, page: await visit.api.get(`${context.api}/pages/path/${encodePath(requestedPath(visit))}`) };
}

/**
 * Renders the form that renames a page and moves it below another page. The parent is given by its path, or by its
 * title if scripts run.
 */
async function renderForm(visit: Visit, status = 200, note: Content = false): Promise<WebResponse> {
  const { context, page } = await loadPage(visit);
  const branches = await loadBranches(visit.api, context, page.page_id);
  const trail = trailTo(branches, page.page_id);
  const parent = page.path.slice(0, Math.max(0, page.path.lastIndexOf('/')));
  return {
    status,
    page: renderInWiki(visit, context, {
      title: `Rename or move ${page.title}`,
      tree: renderTree(context, branches, page.page_id),
      trail,
      main: html`<article><h1>Rename or move</h1>${note}
        <form method="post" class="stack">
          <label>Title <input name="title" required maxlength="255" value="${visit.form.get('title') ?? page.title}"></label>
          <label>Parent page <span class="hint">its address; leave empty for the top level</span>
            <input name="parent" list="parents" maxlength="1000" autocomplete="off" value="${visit.form.get('parent') ?? parent}"></label>
          <datalist id="parents">${branches.filter(({ page_id }) => page_id !== page.page_id).map(({ path, title }) => html`<option value="${path}">${title}</option>`)}</datalist>
          <p class="small">Subpages move with the page. Old addresses redirect to the new ones.</p>
          <p class="row-of-buttons"><button class="button main">Save</button> <a class="button quiet" href="${context.pageUrl(page.path)}">Cancel</a></p>
        </form></article>`,
    }),
  };
}

export const movePage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/move/*',
  handle: (visit) => renderForm(visit),
};

export const saveMove: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/move/*',
  handle: async (visit) => {
    const { context, page } = await loadPage(visit);
    const title = visit.form.get('title')?.trim() ?? '';
    const parent = (visit.form.get('parent') ?? '').trim().replace(/^\/+|\/+$/g, '');
    try {
      const parent_page_id =
        parent === '' ? '' : (await visit.api.get<FullPage>(`${context.api}/pages/path/${encodePath(parent)}`)).page_id;
      const renamed = title !== page.title && {
        title,
        markdown: renameHeading(page.markdown, page.title, title),
        base_revision: page.revision,
      };
      const moved = parent_page_id !== page.parent_page_id && { parent_page_id };
      const saved = await visit.api.patch<FullPage>(`${context.api}/pages/${page.page_id}`, { ...renamed, ...moved });
      return { redirect: context.pageUrl(saved.path) };
    } catch (error) {
      const problem = problemForForm(error);
      return renderForm(visit, problem.status, problemNote(problem));
    }
  },
};

/** Duplicates a page next to the original and opens the form for the copy's name and place. */
export const duplicatePage: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/duplicate',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const id = encodeURIComponent(visit.form.get('page_id') ?? '');
    const { title, markdown, parent_page_id, status } = await visit.api.get<FullPage>(`${context.api}/pages/${id}`);
    const name = `${title} (copy)`.slice(0, 255);
    const copy = await visit.api.post<FullPage>(`${context.api}/pages`, {
      title: name,
      markdown: renameHeading(markdown, title, name),
      parent_page_id,
      status,
    });
    return { redirect: context.pageUrl(copy.path) };
  },
};

/** Moves a page before its previous sibling in the tree, or after its next one. */
export const orderPage: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/order',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    requirePermission(visit, context, 'pages:write');
    const page_id = visit.form.get('page_id') ?? '';
    const branches = await loadBranches(visit.api, context, page_id);
    const page = branches.find((it) => it.page_id === page_id);
    if (!page) throw notFound(visit, 'page');
    const siblings = branches.filter(({ parent_page_id }) => parent_page_id === page.parent_page_id);
    const at = siblings.indexOf(page);
    const others = siblings.filter((it) => it !== page);
    const target = visit.form.get('to') === 'up' ? at - 1 : at + 1;
    if (target >= 0 && target <= others.length) {
      for (const { page_id: id, position } of positionsFor(page, others, target)) {
        await visit.api.patch(`${context.api}/pages/${id}`, { position });
      }
    }
    return { redirect: context.pageUrl(page.path) };
  },
};
