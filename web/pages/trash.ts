import type { FullPage } from '../../src/wiki/pages/schema.ts';
import type { TrashedPage } from '../../src/wiki/pages/trash/schema.ts';
import { type Content, html } from '../html.ts';
import { renderInWiki, time } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { WebRoute } from '../visit.ts';
import { loadWikiContext } from '../wiki-context.ts';

const SHOWN = 100;

export const trash: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/trash',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const [branches, part] = await Promise.all([
      loadBranches(visit.api, context),
      readPart<TrashedPage>(visit, `${context.api}/trash?limit=${SHOWN}`),
    ]);
    return {
      page: renderInWiki(visit, context, {
        title: 'Trash',
        tree: renderTree(context, branches),
        main: html`<article><h1>Trash</h1>${undo(visit.query.get('deleted'), part.records)}
          ${
            part.records.length === 0
              ? html`<p class="empty">${part.isFirst ? 'The trash is empty.' : 'No more entries.'} Deleted pages stay here until they are deleted for good.</p>`
              : html`<ul class="list">${part.records.map(
                  (
                    it,
                  ) => html`<li><form method="post" class="between"><span><strong>${it.title}</strong>${it.page_count > 1 && ` and ${it.page_count - 1} below`}
                    <br><span class="small">${it.path} · deleted ${time(it.trashed_at)} · ${it.purge_at === '' ? 'kept under a legal hold' : html`will be deleted for good ${time(it.purge_at)}`}</span></span>
                    <input type="hidden" name="page_id" value="${it.page_id}"><button class="button">Restore</button></form></li>`,
                )}</ul>`
          }${partLinks(part)}</article>`,
      }),
    };
  },
};

/** Offers to undo the deletion that led to this page. */
function undo(page_id: string | null, pages: readonly TrashedPage[]): Content {
  const page = pages.find((it) => it.page_id === page_id);
  return (
    page !== undefined &&
    html`<div class="note good" role="status"><form method="post" class="between"><span>“${page.title}” is in the trash.</span>
      <input type="hidden" name="page_id" value="${page.page_id}"><button class="button">Undo</button></form></div>`
  );
}

export const restoreFromTrash: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/trash',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const page_id = encodeURIComponent(visit.form.get('page_id') ?? '');
    const page = await visit.api.post<FullPage>(`${context.api}/pages/${page_id}/restore`);
    return { redirect: context.pageUrl(page.path) };
  },
};

export const movePageToTrash: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/delete',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const page_id = visit.form.get('page_id') ?? '';
    await visit.api.delete(`${context.api}/pages/${encodeURIComponent(page_id)}`);
    return { redirect: `${context.actionUrl('trash')}?${new URLSearchParams({ deleted: page_id })}` };
  },
};
