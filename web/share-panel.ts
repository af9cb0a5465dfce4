import type { ReadPage } from '../src/wiki/pages/schema.ts';
import { type Content, html } from './html.ts';
import type { WikiContext } from './wiki-context.ts';

/** Renders the address of a page and who can open it, as a popover that needs no script. */
export function sharePanel(context: WikiContext, page: ReadPage, publicUrl: string): Content {
  const { workspace } = context;
  const url = context.pageUrl(page.path);
  const members = `/${workspace.slug}/-/members`;
  return html`<div id="share" class="sheet share" popover role="dialog" aria-labelledby="share-heading">
    <h2 id="share-heading">Share this page</h2>
    <label>Link <input readonly autofocus value="${publicUrl}${url}"></label>
    <p class="needs-script"><button class="button main" type="button" data-copy-link="${url}">Copy link</button></p>
    <p>${
      page.status === 'draft'
        ? html`Only people who can edit can read this draft. Once it is published, everyone in <bdi>${workspace.name}</bdi> can read it.`
        : html`Everyone in <bdi>${workspace.name}</bdi> can read this page. Anyone else who opens the link is asked to sign in and sees nothing.`
    }</p>
    <p><a href="${members}">${context.can('members:manage') ? 'Invite people' : 'Members'}</a></p>
  </div>`;
}
