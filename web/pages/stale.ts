import type { StalePage } from '../../src/wiki/pages/gone/schema.ts';
import { type Content, html } from '../html.ts';
import { renderInWiki, time } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { WebRoute } from '../visit.ts';
import { loadWikiContext, type WikiContext } from '../wiki-context.ts';
import { decide } from './gone.ts';
import { pageSourcesUrl } from './page-sources.ts';

const SHOWN = 100;

/** The pages that may be out of date. Users can compare and edit each page, or mark it as correct. */
export const stale: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/stale',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const [branches, part] = await Promise.all([
      loadBranches(visit.api, context),
      readPart<StalePage>(visit, `${context.api}/pages/stale?limit=${SHOWN}`),
    ]);
    return {
      page: renderInWiki(visit, context, {
        title: 'Stale pages',
        tree: renderTree(context, branches),
        main: html`<article><h1>Stale pages</h1>
          <p>The sources of these pages have changed or are missing. Compare each page with its source, then edit it or keep it as it is until the source changes again.</p>
          ${
            part.records.length === 0
              ? html`<p class="empty">${part.isFirst ? 'No stale pages.' : 'No more entries.'}</p>`
              : html`<form method="post"><ul class="list">${part.records.map((it) => listed(context, it))}</ul>
                <p class="row-of-buttons"><button class="button">Keep selected pages as they are</button></p></form>`
          }${partLinks(part)}</article>`,
      }),
    };
  },
};

export const keepStale: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/stale',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const page_ids = [...new Set(visit.form.getAll('page_id'))].slice(0, SHOWN);
    for (const page_id of page_ids) await decide(visit, context, 'keep', page_id);
    return { redirect: context.actionUrl('stale') };
  },
};

function listed(context: WikiContext, it: StalePage): Content {
  return html`<li><label><input type="checkbox" name="page_id" value="${it.page_id}"> <strong dir="auto">${it.title}</strong></label> <a href="${context.pageUrl(it.path)}">${it.path}</a>
    <p class="small">${reason(context, it)} · changed ${time(it.updated_at)}</p>
    <p class="small">${it.sources.length > 0 && html`<a href="${pageSourcesUrl(context, it.path)}">Compare with the source</a> · `}<a href="${context.actionUrl('history', it.path)}">History</a> · <a href="${context.actionUrl('edit', it.path)}">Edit</a></p></li>`;
}

function reason(context: WikiContext, { gone_filename, sources }: StalePage): Content {
  if (gone_filename !== '') {
    return html`${gone_filename} is missing from its folder: <a href="${context.actionUrl('gone')}">keep or delete the page</a>`;
  }
  if (sources.length === 0) return 'Its source was deleted';
  const names = sources.map(({ source_id, title, filename }, i) => {
    const name = filename || title;
    return html`${i > 0 && ', '}${context.can('sources:read') ? html`<a href="${context.actionUrl('sources', source_id)}">${name}</a>` : name}`;
  });
  return html`Changed: ${names}`;
}
