import type { Page } from '../../../src/wiki/pages/schema.ts';
import type { WikiSettings } from '../../../src/wiki/wikis/schema.ts';
import { type Api, Problem } from '../../api.ts';
import { type Content, html } from '../../html.ts';
import type { WebRoute } from '../../visit.ts';
import { loadWikiContext, type WikiContext } from '../../wiki-context.ts';

/** Loads the wiki's home page; undefined if none is set or the reader may not read it. */
export async function loadHome(api: Api, context: WikiContext): Promise<Page | undefined> {
  const { home_page_id } = await api.get<WikiSettings>(`${context.api}/settings`);
  if (home_page_id === null) return undefined;
  try {
    return await api.get<Page>(`${context.api}/pages/${encodeURIComponent(home_page_id)}`);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
}

/** Sets the wiki's home page, or removes the setting. */
export const chooseHome: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/home',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    await visit.api.patch(`${context.api}/settings`, { home_page_id: visit.form.get('page_id') ?? '' });
    return { redirect: context.pageUrl() };
  },
};

/** Names the home page, with a button that removes the setting. */
export function homeNote(context: WikiContext, { path, title }: Page): Content {
  return html`<form method="post" action="${context.actionUrl('home')}" class="note between"><span>The home page of this wiki is <a href="${context.pageUrl(path)}" dir="auto">${title}</a>.</span>${
    context.can('wikis:manage') &&
    html` <button class="button" name="page_id" value="">Use this overview instead</button>`
  }</form>`;
}

/** The entry in a page's menu that makes it the home page. */
export function homeEntry(context: WikiContext, { page_id }: Page): Content {
  return (
    context.can('wikis:manage') &&
    html`<li><form method="post" action="${context.actionUrl('home')}"><button name="page_id" value="${page_id}">Use as home page</button></form></li>`
  );
}
