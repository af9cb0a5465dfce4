import type { FullPage } from '../../src/pages/schema.ts';
import { html } from '../html.ts';
import { inWiki, time } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
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

const SHOWN = 100;

export const trash: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/trash',
  run: async (visit) => {
    const place = await findPlace(visit);
    const [branches, part] = await Promise.all([
      branchesAround(visit.api, place),
      readPart<TrashedPage>(visit, `${place.api}/trash?limit=${SHOWN}`),
    ]);
    return {
      page: inWiki(visit, place, {
        title: 'Trash',
        tree: treeOf(place, branches),
        main: html`<article><h1>Trash</h1>
          ${
            part.records.length === 0
              ? html`<p class="empty">${part.isFirst ? 'The trash is empty.' : 'There is nothing more.'} Pages that are deleted wait here before they are gone for good.</p>`
              : html`<ul class="list">${part.records.map(
                  (
                    it,
                  ) => html`<li><form method="post" class="between"><span><strong>${it.title}</strong>${it.page_count > 1 && ` and ${it.page_count - 1} below`}
                    <br><span class="small">${it.path} · deleted ${time(it.trashed_at)} · gone for good ${time(it.purge_at)}</span></span>
                    <input type="hidden" name="page_id" value="${it.page_id}"><button class="button">Restore</button></form></li>`,
                )}</ul>`
          }${partLinks(part)}</article>`,
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
