import type { PageHit } from '../../src/wiki/pages/search/schema.ts';
import type { TrashedPage } from '../../src/wiki/pages/trash/schema.ts';
import { Problem } from '../api.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { renderInWiki } from '../layout.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { Visit, WebResponse } from '../visit.ts';
import type { WikiContext } from '../wiki-context.ts';

/** The response for a path without a page: similar pages, and a link to create the page. */
export async function noSuchPage(visit: Visit, context: WikiContext, path: string): Promise<WebResponse> {
  const words = path.split('/').at(-1)?.replaceAll('-', ' ').trim() ?? '';
  const canWrite = context.can('pages:write');
  const [branches, hits, trash] = await Promise.all([
    loadBranches(visit.api, context),
    words === '' ? [] : searchSimilar(visit, context, words),
    canWrite ? visit.api.get<TrashedPage[]>(`${context.api}/trash?limit=500`) : [],
  ]);
  const trashedPage = trash.find((page) => path === page.path || path.startsWith(`${page.path}/`));
  return {
    status: 404,
    page: renderInWiki(visit, context, {
      title: 'Page not found',
      tree: renderTree(context, branches),
      main: html`<article><h1>Page not found</h1>
        <p>There is no page at <code>${path}</code>, and no page was moved from this address.</p>
        ${trashedPage && restoreOffer(context, trashedPage)}
        ${hits.length > 0 && html`<h2>Did you mean</h2><ul class="list">${hits.map((hit) => html`<li><a href="${context.pageUrl(hit.path)}">${hit.title}</a><p class="small">${hit.path}</p></li>`)}</ul>`}
        ${canWrite && html`<p><a class="button main" href="${context.actionUrl('new')}?title=${encodeURIComponent(capitalize(words))}">${icon('plus')} Write this page</a></p>`}
        <p class="small">Request <code>${visit.request.id}</code></p>
      </article>`,
    }),
  };
}

async function searchSimilar({ api }: Visit, context: WikiContext, query: string): Promise<PageHit[]> {
  try {
    return await api.get<PageHit[]>(
      `${context.api}/pages/search?${new URLSearchParams({ query: query.slice(0, 1024), limit: '5' })}`,
    );
  } catch (error) {
    // Searches have a lower rate limit than pages, so omit the suggestions.
    if (error instanceof Problem && error.status === 429) return [];
    throw error;
  }
}

function restoreOffer(context: WikiContext, page: TrashedPage): Content {
  return html`<div class="note"><p><strong>${page.title}</strong> is in the trash.</p>
    <form method="post" action="${context.actionUrl('trash')}"><input type="hidden" name="page_id" value="${page.page_id}">
    <button class="button">Restore this page</button></form></div>`;
}

function capitalize(words: string): string {
  const [first = '', ...rest] = [...words];
  return first.toLocaleUpperCase() + rest.join('');
}
