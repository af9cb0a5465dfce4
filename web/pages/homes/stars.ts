import type { StarredPage } from '../../../src/wiki/stars/schema.ts';
import { Problem } from '../../api.ts';
import { type Content, html, nothing } from '../../html.ts';
import { icon } from '../../icons.ts';
import type { Visit, WebRoute } from '../../visit.ts';
import { encodePath, loadWikiContext, type WikiContext } from '../../wiki-context.ts';

/** Stars a page or removes its star, and shows the page again. */
export const changeStars: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/stars',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const { api, form } = visit;
    const address = `${context.api}/starred-pages/${encodeURIComponent(form.get('page_id') ?? '')}`;
    if (form.get('do') === 'add') await api.put(address);
    else
      await api.delete(address).catch((error: unknown) => {
        // The star was removed in another window.
        if (!(error instanceof Problem) || error.status !== 404) throw error;
      });
    return { redirect: context.pageUrl(encodePath(form.get('path') ?? '')) };
  },
};

/** The button that stars a page or removes its star. */
export function starButton(
  context: WikiContext,
  { page_id, path }: { page_id: string; path: string },
  isStarred: boolean,
): Content {
  const words = isStarred ? 'Remove star' : 'Star this page';
  return html`<form method="post" action="${context.actionUrl('stars')}" class="star">
    <input type="hidden" name="page_id" value="${page_id}"><input type="hidden" name="path" value="${path}">
    <button class="button quiet" name="do" value="${isStarred ? 'remove' : 'add'}" aria-label="${words}" title="${words}">${icon('star')}</button></form>`;
}

/** Loads the user's starred pages, sorted by title. */
export async function loadStarred({ api }: Visit, context: WikiContext): Promise<StarredPage[]> {
  const all = await api.get<StarredPage[]>(`${context.api}/starred-pages?limit=100`);
  return all.sort((one, other) => one.title.localeCompare(other.title));
}

export function starredList(context: WikiContext, starred: readonly StarredPage[]): Content {
  if (starred.length === 0) return nothing;
  return html`<section><h2>Starred</h2><ul class="columns starred">${starred.map(
    ({ path, title, status }) =>
      html`<li>${icon('star')} <a href="${context.pageUrl(path)}" dir="auto">${title}</a>${
        status !== 'published' && html` <span class="tag">${status}</span>`
      }</li>`,
  )}</ul></section>`;
}
