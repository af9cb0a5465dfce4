import { Problem } from '../api.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki } from '../layout.ts';
import type { Place } from '../place.ts';
import { branchesAround, treeOf } from '../tree.ts';
import type { Shown, Visit } from '../visit.ts';

interface Hit {
  path: string;
  title: string;
}

interface Trashed {
  page_id: string;
  path: string;
  title: string;
}

/** A path without a page: what may have been meant, and how to make it. */
export async function noSuchPage(visit: Visit, place: Place, path: string): Promise<Shown> {
  const words = path.split('/').at(-1)?.replaceAll('-', ' ').trim() ?? '';
  const mayWrite = place.may('pages:write');
  const [branches, hits, trash] = await Promise.all([
    branchesAround(visit.api, place),
    words === '' ? [] : similar(visit, place, words),
    mayWrite ? visit.api.get<Trashed[]>(`${place.api}/trash?limit=500`) : [],
  ]);
  const thrownAway = trash.find((page) => path === page.path || path.startsWith(`${page.path}/`));
  return {
    status: 404,
    page: inWiki(visit, place, {
      title: 'No such page',
      tree: treeOf(place, branches),
      main: html`<article><h1>There is no page here</h1>
        <p>Nothing is at <code>${path}</code>, and nothing was that you could be sent on to.</p>
        ${thrownAway && restoreOffer(place, thrownAway)}
        ${hits.length > 0 && html`<h2>Did you mean</h2><ul class="list">${hits.map((hit) => html`<li><a href="${place.at(hit.path)}">${hit.title}</a><p class="small">${hit.path}</p></li>`)}</ul>`}
        ${mayWrite && html`<p><a class="button main" href="${place.to('new')}?title=${encodeURIComponent(capital(words))}">${icon('plus')} Write this page</a></p>`}
        <p class="small">Request <code>${visit.request.id}</code></p>
      </article>`,
    }),
  };
}

async function similar({ api }: Visit, place: Place, query: string): Promise<Hit[]> {
  try {
    return await api.get<Hit[]>(
      `${place.api}/pages/search?${new URLSearchParams({ query: query.slice(0, 1024), limit: '5' })}`,
    );
  } catch (error) {
    // Searches are limited more than pages are; the page says enough without.
    if (error instanceof Problem && error.status === 429) return [];
    throw error;
  }
}

function restoreOffer(place: Place, page: Trashed): Content {
  return html`<div class="note"><p><strong>${page.title}</strong> is in the trash.</p>
    <form method="post" action="${place.to('trash')}"><input type="hidden" name="page_id" value="${page.page_id}">
    <button class="button">Restore it</button></form></div>`;
}

function capital(words: string): string {
  const [first = '', ...rest] = [...words];
  return first.toLocaleUpperCase() + rest.join('');
}
