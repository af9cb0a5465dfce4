import type { Page } from '../../src/pages/schema.ts';
import type { Branch } from '../elements/branch.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { findPlace, inApi, type Place, pathOf } from '../place.ts';
import { branchesAround, branchesPath, breadcrumbs, treeOf, wayTo } from '../tree.ts';
import type { Visit, WebRoute } from '../visit.ts';

/** A wiki's home page: its pages at the root, and what to do where there are none. */
export const wikiHome: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki',
  run: async (visit) => {
    const place = await findPlace(visit);
    const part = await readPart<Branch>(visit, branchesPath(place, ''), { address: place.to('pages') });
    const branches = part.records;
    const { wiki } = place;
    return {
      page: inWiki(visit, place, {
        title: wiki.title,
        tree: treeOf(place, branches),
        main: html`<article class="home">
          <header class="page-head"><h1>${wiki.title}</h1>${wiki.description !== '' && html`<p class="lead">${wiki.description}</p>`}</header>
          ${branches.length === 0 ? emptyWiki(place) : doors(place, branches)}
          ${partLinks(part)}
        </article>`,
      }),
    };
  },
};

function emptyWiki(place: Place): Content {
  return html`<div class="empty-state">
    <p class="lead">This wiki is empty.</p>
    ${
      place.may('uploads:create') || place.may('pages:write')
        ? html`<p>Hand over a folder of notes or documents, and they become pages that can be searched. Or write the first page yourself.</p>
          <p class="row-of-buttons">${place.may('uploads:create') && html`<a class="button main" href="${place.to('upload')}">${icon('upload')} Upload files</a>`}
          ${place.may('pages:write') && html`<a class="button" href="${place.to('new')}">${icon('plus')} Write a page</a>`}</p>`
        : html`<p>Those who may write here have not begun yet. Look again later.</p>`
    }</div>`;
}

function doors(place: Place, branches: readonly Branch[]): Content {
  return html`<ul class="doors">${branches.map(
    ({ path, title, has_children, status }) => html`<li><a href="${place.at(path)}"><strong>${title}</strong>
      <span class="small">${has_children ? 'Pages below' : '1 page'}${status !== 'published' && ` · ${status}`}</span></a></li>`,
  )}</ul>`;
}

async function listed(visit: Visit, path: string) {
  const place = await findPlace(visit);
  const page = path === '' ? undefined : await visit.api.get<Page>(`${place.api}/pages/path/${inApi(path)}`);
  const id = page?.page_id ?? '';
  const part = await readPart<Branch>(visit, branchesPath(place, id));
  const around = part.isFirst ? part.records : await branchesAround(visit.api, place, id);
  const below = part.records.filter(({ parent_page_id }) => parent_page_id === id);
  const title = page ? `Pages below ${page.title}` : `All of ${place.wiki.title}`;
  return {
    page: inWiki(visit, place, {
      title,
      tree: treeOf(place, around, id),
      main: html`${breadcrumbs(place, wayTo(around, id))}<article><h1>${title}</h1>
        ${below.length === 0 ? html`<p class="empty">No ${part.isFirst ? '' : 'more '}pages here.</p>` : doors(place, below)}
        ${partLinks(part)}
      </article>`,
    }),
  };
}

/** The pages of one branch, part by part: what the tree leaves out, and what it opens without a script. */
export const branchPages: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/pages/*',
  run: (visit) => listed(visit, pathOf(visit)),
};

export const rootPages: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/pages',
  run: (visit) => listed(visit, ''),
};
