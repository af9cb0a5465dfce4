import type { Page } from '../../src/pages/schema.ts';
import type { Source } from '../../src/sources/schema.ts';
import { type Content, fromApi, html } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { findPlace } from '../place.ts';
import { branchesAround, treeOf } from '../tree.ts';
import type { WebRoute } from '../visit.ts';

type PageHit = Page & { snippet: string; heading: string; anchor: string };
type SourceHit = Source & { snippet: string };
type Suggestion = { kind: 'page' | 'query'; text: string };

const SHOWN = 20;

export const search: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/search',
  run: async (visit) => {
    const place = await findPlace(visit);
    const words = (visit.query.get('query') ?? '').slice(0, 1_024);
    const asked = words.trim() !== '';
    const isFirst = !visit.query.has('part');
    const query = new URLSearchParams({ query: words, limit: String(SHOWN) });
    const [branches, pages, sources, meant] = await Promise.all([
      branchesAround(visit.api, place),
      asked ? readPart<PageHit>(visit, `${place.api}/pages/search?${query}`) : undefined,
      asked && isFirst && place.may('sources:read')
        ? visit.api.get<SourceHit[]>(`${place.api}/sources/search?${new URLSearchParams({ query: words, limit: '5' })}`)
        : [],
      asked && isFirst
        ? visit.api.get<Suggestion[]>(`${place.api}/suggest?${new URLSearchParams({ query: words, limit: '1' })}`)
        : [],
    ]);
    const hits = pages?.records ?? [];
    return {
      page: inWiki(visit, place, {
        title: asked ? `${words}: search` : 'Search',
        query: words,
        tree: treeOf(place, branches),
        main: html`<article class="results"><h1>${asked ? html`Found for “${words}”` : 'Search'}</h1>
          ${meant
            .filter(({ kind }) => kind === 'query')
            .map(
              ({ text }) =>
                html`<p>Did you mean <a href="${place.to('search')}?${new URLSearchParams({ query: text }).toString()}">${text}</a>?</p>`,
            )}
          ${asked && hits.length + sources.length === 0 && nothingFound(isFirst)}
          ${hits.map(
            (
              hit,
            ) => html`<section class="hit"><h2><a href="${place.at(hit.path)}${hit.anchor !== '' && `#${encodeURIComponent(hit.anchor)}`}">${hit.title}</a></h2>
              <p class="small">${hit.path}${hit.heading !== '' && hit.heading !== hit.title && ` › ${hit.heading}`}</p><p>${fromApi(hit.snippet)}</p></section>`,
          )}
          ${pages && partLinks(pages)}
          ${
            sources.length > 0 &&
            html`<h2>In the sources</h2>${sources.map(
              (hit) =>
                html`<section class="hit"><h3>${icon('source')} <a href="${place.to('sources', hit.source_id)}">${hit.filename || hit.title}</a></h3><p>${fromApi(hit.snippet)}</p></section>`,
            )}`
          }
        </article>`,
      }),
    };
  },
};

function nothingFound(isFirst: boolean): Content {
  if (!isFirst) return html`<p class="empty">No more pages.</p>`;
  return html`<p class="empty">Nothing holds any of these words. Try fewer or other words; words in quotes are searched for as they stand, and <code>-word</code> leaves out pages with it.</p>`;
}
