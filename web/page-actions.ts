import type { ReadPage } from '../src/wiki/pages/schema.ts';
import { type Content, html } from './html.ts';
import { icon } from './icons.ts';
import { homeEntry } from './pages/homes/chosen-home.ts';
import { starButton } from './pages/homes/stars.ts';
import { pageSourcesUrl } from './pages/page-sources.ts';
import { sharePanel } from './share-panel.ts';
import type { WikiContext } from './wiki-context.ts';

/** Renders the actions on a page: the frequent ones as buttons, the others in a menu. */
export function pageActions(context: WikiContext, page: ReadPage, isStarred: boolean, publicUrl: string): Content {
  const mayWrite = context.can('pages:write');
  const entry = (href: string, words: string) => html`<li><a href="${href}">${words}</a></li>`;
  return html`${starButton(context, page, isStarred)}${mayWrite && html`<a class="button" href="${context.actionUrl('edit', page.path)}">${icon('edit')} Edit</a>`}
    <details class="menu page-menu"><summary class="button quiet" aria-label="More actions" title="More">${icon('more')}</summary>
      <div class="menu-box"><ul>
        ${mayWrite && entry(`${context.actionUrl('new')}?parent=${page.page_id}`, 'New subpage')}
        ${mayWrite && entry(context.actionUrl('move', page.path), 'Rename or move')}
        ${
          mayWrite &&
          html`<li><form method="post" action="${context.actionUrl('order')}"><input type="hidden" name="page_id" value="${page.page_id}">
          <button name="to" value="up">Move up</button><button name="to" value="down">Move down</button></form></li>`
        }
        ${
          mayWrite &&
          html`<li><form method="post" action="${context.actionUrl('duplicate')}"><input type="hidden" name="page_id" value="${page.page_id}"><button>Duplicate</button></form></li>
          <li><form method="post" action="${context.actionUrl('templates')}"><input type="hidden" name="page_id" value="${page.page_id}"><button name="do" value="add">Use as template</button></form></li>`
        }
        ${homeEntry(context, page)}
        ${mayWrite && html`<li class="needs-script"><button type="button" data-page-icon="${context.pageUrl(page.path)}" data-title="${page.title}">Icon…</button></li>`}
        <li><button type="button" popovertarget="share">Share…</button></li>
        <li class="needs-script"><button type="button" data-copy-link="${context.pageUrl(page.path)}">Copy link</button></li>
        <li class="needs-script"><button type="button" data-download-page="${context.pageUrl(page.path)}">Download as Markdown</button></li>
        ${entry(context.actionUrl('history', page.path), 'History')}
        ${page.citations.length > 0 && entry(pageSourcesUrl(context, page.path), 'Sources')}
        ${context.can('wikis:export') && entry(context.actionUrl('transfer'), 'Export the whole wiki')}
      </ul>
      ${mayWrite && html`<ul><li><form method="post" action="${context.actionUrl('delete')}"><input type="hidden" name="page_id" value="${page.page_id}"><button class="bad">Delete</button></form></li></ul>`}
      </div></details>${sharePanel(context, page, publicUrl)}`;
}
