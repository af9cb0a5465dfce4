import type { SourceHit } from '../../../src/sources/records/schema.ts';
import type { SearchView, Suggestion } from '../../../src/wiki/pages/search/schema.ts';
import type { SavedSearch } from '../../../src/wiki/search/schema.ts';
import { type Content, fromApi, html } from '../../html.ts';
import { icon } from '../../icons.ts';
import { renderInWiki } from '../../layout.ts';
import { partLinks, readBodyOfPart } from '../../paging.ts';
import { searchHelp } from '../../search-help.ts';
import { loadBranches, renderTree, rootIn } from '../../tree.ts';
import type { WebRoute } from '../../visit.ts';
import { loadWikiContext } from '../../wiki-context.ts';
import { savedSearchList, saveSearchForm } from './saved-searches.ts';
import { COUNTED_HITS, filterForm, parametersOf, readFilters, totalOf } from './search-filters.ts';

const PAGE_SIZE = 20;

export const search: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/search',
  showsPages: true,
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const words = (visit.query.get('query') ?? '').slice(0, 1_024);
    const hasQuery = words.trim() !== '';
    const isFirst = !visit.query.has('part');
    const filters = readFilters(visit.query);
    const query = parametersOf(words, filters, ['author', 'in', 'tag', 'updated', 'status', 'sort']);
    query.set('limit', String(PAGE_SIZE));
    const ofSources = parametersOf(words, filters, ['author', 'updated', 'sort']);
    ofSources.set('limit', '5');
    const maySearchSources =
      context.can('sources:read') && ![filters.in, filters.tag, filters.status].some((value) => value !== '');
    const root = rootIn(context);
    const always = { of: String(COUNTED_HITS), known_tree: root.known_tree };
    const [pages, branches, saved] = hasQuery
      ? [await readBodyOfPart<SearchView>(visit, `${context.api}/pages/search/view?${query}`, { always }), [], []]
      : [
          undefined,
          ...(await Promise.all([
            loadBranches(visit.api, context),
            visit.api.get<SavedSearch[]>(`${context.api}/saved-searches?limit=100`),
          ])),
        ];
    const { hits = [], counts } = pages?.body ?? {};
    // If there are many pages, skip the sources and the suggestions, which users rarely want first.
    const isEnough = pages !== undefined && pages.next !== '' && !visit.query.has('sources');
    const [sources, suggestions] = await Promise.all([
      hasQuery && isFirst && !isEnough && maySearchSources
        ? visit.api.get<SourceHit[]>(`${context.api}/sources/search?${ofSources}`)
        : [],
      hasQuery && isFirst && !isEnough
        ? visit.api.get<Suggestion[]>(`${context.api}/suggest?${new URLSearchParams({ query: words, limit: '1' })}`)
        : [],
    ]);
    return {
      page: renderInWiki(visit, context, {
        title: hasQuery ? `${words}: search` : 'Search',
        query: words,
        tree: renderTree(context, pages ? root.branchesOf(pages.body.tree) : branches),
        main: html`<article class="results"><h1>${hasQuery ? html`Results for “${words}”` : 'Search'}</h1>
          ${suggestions
            .filter(({ kind }) => kind === 'query')
            .map(
              ({ text }) =>
                html`<p>Did you mean <a href="${context.actionUrl('search')}?${new URLSearchParams({ query: text }).toString()}">${text}</a>?</p>`,
            )}
          ${hasQuery && filterForm({ words, filters, counts, mayWrite: context.can('pages:write'), action: context.actionUrl('search') })}
          ${counts && hits.length > 0 && html`<p class="small" role="status">${totalOf(counts)}</p>`}
          ${!hasQuery && html`${savedSearchList(context, saved)}${searchHelp()}`}
          ${hasQuery && hits.length + sources.length === 0 && nothingFound(isFirst)}
          ${hits.map(
            (
              hit,
            ) => html`<section class="hit"><h2><a href="${context.pageUrl(hit.path)}${hit.anchor !== '' && `#${encodeURIComponent(hit.anchor)}`}">${hit.title}</a></h2>
              <p class="small">${hit.path}${hit.heading !== '' && hit.heading !== hit.title && ` › ${hit.heading}`}</p><p>${fromApi(hit.snippet)}</p></section>`,
          )}
          ${pages && partLinks(pages)}
          ${hasQuery && saveSearchForm(context, words, filters)}
          ${isEnough && isFirst && maySearchSources && html`<p><a href="${withSources(visit.path, visit.query)}">Also search the sources</a></p>`}
          ${
            sources.length > 0 &&
            html`<h2 id="sources">In the sources</h2>${sources.map(
              (hit) =>
                html`<section class="hit"><h3>${icon('source')} <a href="${context.actionUrl('sources', hit.source_id)}">${hit.filename || hit.title}</a></h3><p>${fromApi(hit.snippet)}</p></section>`,
            )}`
          }
        </article>`,
      }),
    };
  },
};

function withSources(path: string, query: URLSearchParams): string {
  const all = new URLSearchParams(query);
  all.set('sources', 'yes');
  return `${path}?${all}#sources`;
}

function nothingFound(isFirst: boolean): Content {
  if (!isFirst) return html`<p class="empty">No more pages.</p>`;
  return html`<p class="empty">No page contains these words. Try fewer or other words, or remove filters.</p>${searchHelp()}`;
}
