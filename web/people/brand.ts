import { type Html, html } from '../html.ts';

/** The logo of a workspace and a name, first in the bar. Outside a workspace it shows Ibid's own mark. */
export function brand(href: string, name: string, workspace_id: string): Html {
  const mark =
    workspace_id === ''
      ? html`<span class="mark" aria-hidden="true">ib.</span>`
      : html`<img class="logo" src="${logoUrl(workspace_id)}" alt="" width="28" height="28">`;
  return html`<a class="brand" href="${href}">${mark}<span class="brand-name">${name}</span></a>`;
}

export function logoUrl(workspace_id: string): string {
  return `/v1/workspaces/${workspace_id}/logo`;
}
