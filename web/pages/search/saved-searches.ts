import { randomBytes } from 'node:crypto';
import type { SavedSearch } from '../../../src/wiki/search/schema.ts';
import { type Content, html, nothing } from '../../html.ts';
import type { WebRoute } from '../../visit.ts';
import { loadWikiContext, type WikiContext } from '../../wiki-context.ts';
import { type SearchFilters, typedQuery } from './search-filters.ts';

/** Lists the user's saved searches, each with a button to delete it. */
export function savedSearchList(context: WikiContext, saved: readonly SavedSearch[]): Content {
  if (saved.length === 0) return nothing;
  return html`<section aria-labelledby="saved"><h2 id="saved">Saved searches</h2><ul class="list">${saved.map(
    (it) => html`<li><form method="post" action="${context.actionUrl('saved-searches')}" class="between">
      <span><a href="${addressOf(context, it)}" dir="auto">${it.name}</a> <span class="small" dir="auto">${it.query}</span></span>
      <input type="hidden" name="do" value="delete"><input type="hidden" name="saved_search_id" value="${it.saved_search_id}">
      <button class="button quiet" aria-label="Delete ${it.name}">Delete</button></form></li>`,
  )}</ul></section>`;
}

/** The form that saves the current search under a name. */
export function saveSearchForm(context: WikiContext, words: string, filters: SearchFilters): Content {
  return html`<details class="save-search"><summary class="small">Save this search</summary>
    <form method="post" action="${context.actionUrl('saved-searches')}" class="row-of-buttons">
      <input type="hidden" name="do" value="save"><input type="hidden" name="query" value="${typedQuery(words, filters)}">
      <input type="hidden" name="sort" value="${filters.sort}">
      <label>Name <input name="name" maxlength="100" value="${words.slice(0, 100)}" required></label>
      <button class="button">Save</button>
    </form></details>`;
}

/** Saves or deletes a search. Saving under an existing name replaces that search. */
export const changeSavedSearches: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/saved-searches',
  handle: async (visit) => {
    const { api, form } = visit;
    const context = await loadWikiContext(visit);
    const given = (name: string) => form.get(name) ?? '';
    const all = `${context.api}/saved-searches`;
    if (given('do') === 'delete') {
      await api.delete(`${all}/${encodeURIComponent(given('saved_search_id'))}`);
    } else {
      const name = given('name').trim();
      const saved = await api.get<SavedSearch[]>(`${all}?limit=100`);
      const same = saved.find((it) => it.name.toLowerCase() === name.toLowerCase());
      const id = same?.saved_search_id ?? randomBytes(12).toString('hex');
      const sort = given('sort') === '' ? {} : { sort: given('sort') };
      await api.put(`${all}/${id}`, { name, query: given('query'), ...sort });
    }
    return { redirect: context.actionUrl('search') };
  },
};

function addressOf(context: WikiContext, { query, sort }: SavedSearch): string {
  const parameters = new URLSearchParams({ query, ...(sort !== 'relevance' && { sort }) });
  return `${context.actionUrl('search')}?${parameters}`;
}
