import type { FullPage, Page } from '../../src/pages/schema.ts';
import { Problem } from '../api.ts';
import type { Branch } from '../elements/branch.ts';
import { type Content, fromApi, html, nothing } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki, time } from '../layout.ts';
import { findPlace, inApi, type Place, pathOf } from '../place.ts';
import { branchesAround, treeOf, wayTo } from '../tree.ts';
import type { Shown, Visit, WebRoute } from '../visit.ts';
import { noSuchPage } from './no-such-page.ts';

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
    const [branches, backlinks] = await Promise.all([
      branchesAround(visit.api, place, page.page_id),
      visit.api.get<Page[]>(`${place.api}/pages/${page.page_id}/backlinks?limit=${BACKLINKS}`),
    ]);
    return shown(visit, place, page, branches, backlinks);
  },
};

function shown(visit: Visit, place: Place, page: FullPage, branches: Branch[], backlinks: Page[]): Shown {
  const hasDiagrams = page.html.includes('<pre class="mermaid"');
  return {
    hasDiagrams,
    page: inWiki(visit, place, {
      title: page.title,
      tree: treeOf(place, branches, page.page_id),
      aside: outlineOf(page),
      scripts: hasMath(page.html) ? ['math.js'] : [],
      main: html`${breadcrumbs(place, wayTo(branches, page.page_id))}
        <article>
          <header class="page-head">
            ${!saysItsTitle(page) && html`<h1>${page.title}</h1>`}
            ${pageState(place, page)}
            <div class="page-do">
              ${place.may('pages:write') && html`<a class="button" href="${place.to('edit', page.path)}" data-key="e">${icon('edit')} Edit</a>`}
              <a class="button quiet" href="${place.to('history', page.path)}">${icon('history')} History</a>
              ${place.may('pages:write') && html`<a class="button quiet" href="${place.to('new')}?parent=${page.page_id}">${icon('plus')} Page below</a>`}
            </div>
          </header>
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

export function hasMath(text: string): boolean {
  return text.includes('<pre class="math"') || text.includes('class="language-math');
}

/** Most pages that were uploaded begin with their title, which is not shown twice then. */
function saysItsTitle({ html: text, outline, title }: FullPage): boolean {
  return text.trimStart().startsWith('<h1') && outline[0]?.level === 1 && outline[0].text.trim() === title.trim();
}

/** Links to pages that are not there yet lead to where they are written. */
export function pageText(place: Place, { html: text }: { html: string }): Content {
  if (text.trim() === '') return html`<p class="empty">This page is empty.</p>`;
  if (!place.may('pages:write')) return fromApi(text);
  const marked = /<a class="wiki missing" data-target="([^"]*)"/g;
  // The target was escaped for an attribute by the API, where & stands for itself in an address too.
  return fromApi(
    text.replace(marked, (link, target: string) => {
      const address = `${place.to('new')}?title=${encodeURIComponent(unescaped(target))}`;
      return html`${fromApi(link)} href="${address}"`.text;
    }),
  );
}

function unescaped(attribute: string): string {
  const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return attribute.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return names[name] ?? whole;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

function pageState({ may, to }: Place, page: FullPage): Content {
  if (page.stale) {
    return html`<p class="note">The sources of this page have changed since it was made.${may('sources:read') && html` <a href="${to('sources')}">See the sources</a>`}</p>`;
  }
  if (page.status === 'draft') return html`<p class="note">A draft: only those who may write see it.</p>`;
  if (page.status === 'archived') return html`<p class="note">Archived: searches pass over this page.</p>`;
  return nothing;
}

export function breadcrumbs(place: Place, way: readonly { path: string; title: string }[]): Content {
  return html`<nav class="crumbs" aria-label="Where this is"><ol>
    <li><a href="${place.at()}">${place.wiki.title}</a></li>
    ${way.map(({ path, title }, i) => html`<li>${i === way.length - 1 ? html`<span>${title}</span>` : html`<a href="${place.at(path)}">${title}</a>`}</li>`)}
  </ol></nav>`;
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

function cited(place: Place, { citations }: FullPage): Content {
  if (citations.length === 0) return nothing;
  return html`<section><h2>Made from</h2><ul class="sources">
    ${citations.map(({ source_id, title, filename }) => html`<li>${icon('source')} <a href="${place.to('sources', source_id)}">${filename || title}</a></li>`)}
  </ul></section>`;
}

function linkedFrom(place: Place, pages: readonly Page[]): Content {
  if (pages.length === 0) return nothing;
  return html`<section><h2>Linked from</h2><ul class="columns">
    ${pages.map(({ path, title }) => html`<li><a href="${place.at(path)}">${title}</a></li>`)}
    ${pages.length === BACKLINKS && html`<li>and more</li>`}
  </ul></section>`;
}
