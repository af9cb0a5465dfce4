import type { BrokenLink } from '../../src/wiki/pages/links/schema.ts';
import { type Content, html } from '../html.ts';
import { renderInWiki } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { WebRoute } from '../visit.ts';
import { loadWikiContext, type WikiContext } from '../wiki-context.ts';

const SHOWN = 100;

/** The broken links of the wiki, with the pages that contain them. */
export const brokenLinks: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/broken-links',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const [branches, part] = await Promise.all([
      loadBranches(visit.api, context),
      readPart<BrokenLink>(visit, `${context.api}/broken-links?limit=${SHOWN}`),
    ]);
    return {
      page: renderInWiki(visit, context, {
        title: 'Broken links',
        tree: renderTree(context, branches),
        main: html`<article><h1>Broken links</h1>
          <p>These links point to pages or pictures that are not in this wiki. A link works as soon as its target is added. Otherwise, edit the page, or edit its file and upload it again.</p>
          ${
            part.records.length === 0
              ? html`<p class="empty">${part.isFirst ? 'No broken links.' : 'No more entries.'}</p>`
              : html`<ul class="list">${part.records.map((it) => listed(context, it))}</ul>`
          }${partLinks(part)}</article>`,
      }),
    };
  },
};

function listed(context: WikiContext, { path, title, target, line, filename }: BrokenLink): Content {
  const places = [filename, line > 0 && `line ${line}`].filter(Boolean).join(', ');
  return html`<li><a href="${context.pageUrl(path)}">${title}</a> links to <code>${target}</code>
    <p class="small">${path}${places !== '' && ` · ${places}`} · <a href="${context.actionUrl('edit', path)}">Edit</a></p></li>`;
}
