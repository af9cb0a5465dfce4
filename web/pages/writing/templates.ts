import type { FullTemplate, Template } from '../../../src/wiki/templates/schema.ts';
import { Problem } from '../../api.ts';
import { type Content, html } from '../../html.ts';
import { renderInWiki } from '../../layout.ts';
import { partLinks, readPart } from '../../paging.ts';
import { loadBranches, renderTree } from '../../tree.ts';
import type { Visit, WebRoute } from '../../visit.ts';
import { loadWikiContext, requirePermission, type WikiContext } from '../../wiki-context.ts';

const SHOWN = 100;

/** Maximum number of templates offered above a new page. */
const OFFERED = 30;

export const templates: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/templates',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    requirePermission(visit, context, 'pages:write');
    const [branches, part] = await Promise.all([
      loadBranches(visit.api, context),
      readPart<Template>(visit, `${context.api}/templates?limit=${SHOWN}`),
    ]);
    return {
      page: renderInWiki(visit, context, {
        title: 'Templates',
        tree: renderTree(context, branches),
        main: html`<article><h1>Templates</h1>
          <p>Any page can be a template: choose <em>Use as template</em> in its menu. In its title and text, <code>{{title}}</code>, <code>{{date}}</code> and <code>{{author}}</code> are replaced with the values of the new page.</p>
          ${part.records.length === 0 ? html`<p class="empty">${part.isFirst ? 'No templates yet.' : 'No more entries.'}</p>` : html`<ul class="list">${part.records.map((it) => entry(context, it))}</ul>`}
          ${partLinks(part)}</article>`,
      }),
    };
  },
};

function entry(context: WikiContext, { page_id, path, title, description, status }: Template): Content {
  return html`<li><a href="${context.pageUrl(path)}" dir="auto">${title}</a>${status !== 'published' && html` <span class="tag">${status}</span>`}
    ${description !== '' && html`<p class="small" dir="auto">${description}</p>`}
    <form method="post" class="row-of-buttons"><input type="hidden" name="page_id" value="${page_id}">
    <a class="button" href="${context.actionUrl('new')}?template=${page_id}">New page</a><button class="button quiet" name="do" value="remove">Remove from templates</button></form></li>`;
}

/** Marks a page as a template, or removes the mark. */
export const changeTemplates: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/templates',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const address = `${context.api}/templates/${encodeURIComponent(visit.form.get('page_id') ?? '')}`;
    if (visit.form.get('do') === 'add') await visit.api.put(address);
    else
      await visit.api.delete(address).catch((error: unknown) => {
        // Another user has already removed the mark.
        if (!(error instanceof Problem) || error.status !== 404) throw error;
      });
    return { redirect: context.actionUrl('templates') };
  },
};

/** Renders the templates that a new page can begin with, or false if the wiki has no templates. */
export async function offeredTemplates({ api }: Visit, context: WikiContext, parent: string): Promise<Content> {
  const all = await api.get<Template[]>(`${context.api}/templates?limit=${OFFERED}`);
  if (all.length === 0) return false;
  const address = (page_id: string) =>
    `${context.actionUrl('new')}?${new URLSearchParams({ ...(parent !== '' && { parent }), template: page_id })}`;
  return html`<nav class="begin-with" aria-label="Templates"><span>Start with a template:</span>
    ${all.map(({ page_id, title }) => html`<a class="button quiet" href="${address(page_id)}" dir="auto">${title}</a>`)}</nav>`;
}

/** Loads the title and text for a new page. The title is left empty unless the template's title has variables. */
export async function loadTemplate({ api }: Visit, context: WikiContext, page_id: string, page_path: string) {
  const address = `${context.api}/templates/${encodeURIComponent(page_id)}?page_path=${encodeURIComponent(page_path)}`;
  const { title, markdown } = await api.get<FullTemplate>(address);
  return { title: /\{\{(?:date|author)\}\}/.test(title) ? title : '', markdown };
}
