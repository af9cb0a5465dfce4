import type { FullPage, Page } from '../../src/pages/schema.ts';
import { Problem } from '../api.ts';
import type { Branch } from '../elements/branch.ts';
import { type Content, html, nothing } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki, time } from '../layout.ts';
import { pageText, scriptsFor } from '../page-text.ts';
import { type ListPart, partLinks, readPart } from '../paging.ts';
import { findPlace, inApi, type Place, pathOf } from '../place.ts';
import { branchesAround, breadcrumbs, treeOf, wayTo } from '../tree.ts';
import type { Shown, Visit, WebRoute } from '../visit.ts';
import { noSuchPage } from './no-such-page.ts';
import { pageSources, tracedAddress, whyStale } from './page-sources.ts';

const BACKLINKS = 20;

export const readPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/*',
  run: async (visit) => {
    const place = await findPlace(visit);
    const path = pathOf(visit);
    if (path === '') return { redirect: place.at(), status: 308 };
    let page: FullPage;
    try {
      page = await visit.api.get<FullPage>(`${place.api}/pages/path/${inApi(path)}`);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return noSuchPage(visit, place, path);
      throw error;
    }
    if (page.path !== path || visit.params['*'] !== path) return { redirect: place.at(page.path), status: 308 };
    if (visit.query.has('sources')) return pageSources(visit, place, page);
    const [branches, backlinks, staleness] = await Promise.all([
      branchesAround(visit.api, place, page.page_id),
      readPart<Page>(visit, `${place.api}/pages/${page.page_id}/backlinks?limit=${BACKLINKS}`, { name: 'backlinks' }),
      page.stale ? whyStale(visit.api, place, page) : '',
    ]);
    return shown(visit, place, page, { branches, backlinks, staleness });
  },
};

/** What stands around the text of a page. */
interface Around {
  branches: readonly Branch[];
  backlinks: ListPart<Page>;
  /** Which source is why the page is stale; "" where it is not. */
  staleness: Content;
}

function shown(visit: Visit, place: Place, page: FullPage, { branches, backlinks, staleness }: Around): Shown {
  return {
    page: inWiki(visit, place, {
      title: page.title,
      tree: treeOf(place, branches, page.page_id),
      aside: outlineOf(page),
      scripts: [...scriptsFor(page.html), ...(page.citations.length > 0 ? ['passages.js'] : [])],
      main: html`${breadcrumbs(place, wayTo(branches, page.page_id))}
        <article>
          <header class="page-head">
            ${!saysItsTitle(page) && html`<h1>${page.title}</h1>`}
            ${pageState(page, staleness)}
            <div class="page-do">
              ${place.may('pages:write') && html`<a class="button" href="${place.to('edit', page.path)}">${icon('edit')} Edit</a>`}
              <a class="button quiet" href="${place.to('history', page.path)}">${icon('history')} History</a>
              ${page.citations.length > 0 && html`<a class="button quiet" href="${tracedAddress(place, page.path)}">${icon('source')} Sources</a>`}
              ${place.may('pages:write') && html`<a class="button quiet" href="${place.to('new')}?parent=${page.page_id}">${icon('plus')} Page below</a>`}
            </div>
          </header>
          ${page.citations.length > 0 && html`<ibid-passages data-from="${tracedAddress(place, page.path)}"></ibid-passages>`}
          <div class="prose">${pageText(place, page)}</div>
          <footer class="page-end">
            ${childrenOf(place, page, branches)}
            ${cited(place, page)}
            ${linkedFrom(place, backlinks)}
            <p class="small">Changed ${time(page.updated_at)}, revision ${page.revision}. ${page.word_count} words.</p>
          </footer>
        </article>`,
    }),
  };
}

/** Most pages that were uploaded begin with their title, which is not shown twice then. */
function saysItsTitle({ html: text, outline, title }: FullPage): boolean {
  return text.trimStart().startsWith('<h1') && outline[0]?.level === 1 && outline[0].text.trim() === title.trim();
}

function pageState(page: FullPage, staleness: Content): Content {
  if (page.stale) return html`<div class="note stale"><p>${staleness}</p></div>`;
  if (page.status === 'draft') return html`<p class="note">A draft: only those who may write see it.</p>`;
  if (page.status === 'archived') return html`<p class="note">Archived: searches pass over this page.</p>`;
  return nothing;
}

function outlineOf({ outline }: FullPage): Content {
  const entries = outline.filter(({ level }, i) => level <= 3 && !(i === 0 && level === 1));
  if (entries.length < 2) return nothing;
  return html`<nav class="outline" aria-label="On this page"><h2>On this page</h2><ol>
    ${entries.map(({ level, text, anchor }) => html`<li class="level-${level}"><a href="#${encodeURIComponent(anchor)}">${text}</a></li>`)}
  </ol></nav>`;
}

function childrenOf(place: Place, page: FullPage, branches: readonly Branch[]): Content {
  const below = branches.filter(({ parent_page_id }) => parent_page_id === page.page_id);
  if (below.length === 0) return nothing;
  return html`<section><h2>Pages below</h2><ul class="columns">
    ${below.map(({ path, title }) => html`<li><a href="${place.at(path)}">${title}</a></li>`)}
  </ul></section>`;
}

function cited(place: Place, page: FullPage): Content {
  const { citations } = page;
  if (citations.length === 0) return nothing;
  return html`<section><h2>Sources</h2><ul class="sources">
    ${citations.map(({ source_id, title, filename }) => html`<li>${icon('source')} ${place.may('sources:read') ? html`<a href="${place.to('sources', source_id)}">${filename || title}</a>` : filename || title}</li>`)}
  </ul><p><a href="${tracedAddress(place, page.path)}">See beside each block the passage that it was made from</a></p></section>`;
}

function linkedFrom(place: Place, backlinks: ListPart<Page>): Content {
  if (backlinks.records.length === 0 && backlinks.isFirst) return nothing;
  return html`<section><h2>Linked from</h2><ul class="columns">
    ${backlinks.records.map(({ path, title }) => html`<li><a href="${place.at(path)}">${title}</a></li>`)}
  </ul>${partLinks(backlinks)}</section>`;
}
