import type { FullPage } from '../../src/pages/schema.ts';
import { html } from '../html.ts';
import { inWiki, time } from '../layout.ts';
import { findPlace } from '../place.ts';
import { branchesAround, treeOf } from '../tree.ts';
import type { WebRoute } from '../visit.ts';

interface TrashedPage {
  page_id: string;
  path: string;
  title: string;
  page_count: number;
  trashed_at: string;
  purge_at: string;
}

export const trash: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/trash',
  run: async (visit) => {
    const place = await findPlace(visit);
    const [branches, pages] = await Promise.all([
      branchesAround(visit.api, place),
      visit.api.get<TrashedPage[]>(`${place.api}/trash?limit=500`),
    ]);
    return {
      page: inWiki(visit, place, {
        title: 'Trash',
        tree: treeOf(place, branches),
        main: html`<article><h1>Trash</h1>
          ${
            pages.length === 0
              ? html`<p class="empty">The trash is empty. Pages that are deleted wait here before they are gone for good.</p>`
              : html`<ul class="list">${pages.map(
                  (
                    it,
                  ) => html`<li><form method="post" class="between"><span><strong>${it.title}</strong>${it.page_count > 1 && ` and ${it.page_count - 1} below`}
                    <br><span class="small">${it.path} · deleted ${time(it.trashed_at)} · gone for good ${time(it.purge_at)}</span></span>
                    <input type="hidden" name="page_id" value="${it.page_id}"><button class="button">Restore</button></form></li>`,
                )}</ul>`
          }</article>`,
      }),
    };
  },
};

export const restoreFromTrash: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/trash',
  run: async (visit) => {
    const place = await findPlace(visit);
    const page_id = encodeURIComponent(visit.form.get('page_id') ?? '');
    const page = await visit.api.post<FullPage>(`${place.api}/pages/${page_id}/restore`);
    return { redirect: place.at(page.path) };
  },
};

export const movePageToTrash: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/delete',
  run: async (visit) => {
    const place = await findPlace(visit);
    await visit.api.delete(`${place.api}/pages/${encodeURIComponent(visit.form.get('page_id') ?? '')}`);
    return { redirect: place.to('trash') };
  },
};
