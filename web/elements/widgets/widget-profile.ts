import { css, html, type TemplateResult } from 'lit';
import { Widget } from './widget.ts';

interface Profile {
  user: { email: string; display_name: string; avatar_url: string };
  workspaces: { workspace_id: string; name: string; role: string; permissions: string[] }[];
}

/** A user and the workspaces that they are in. */
export class ProfileWidget extends Widget<Profile> {
  protected readonly widget = 'profile';

  static override styles = [
    Widget.styles,
    css`
      .who { display: flex; align-items: center; gap: 0.9rem; }
      .face { flex: none; display: grid; place-items: center; width: 2.75rem; height: 2.75rem; border-radius: 50%; background: var(--paper-2); color: var(--accent); font-weight: 650; object-fit: cover; }
    `,
  ];

  protected renderAnswer({ user, workspaces }: Profile): TemplateResult {
    const name = user.display_name || user.email;
    const face = /^https:/.test(user.avatar_url)
      ? html`<img class="face" src=${user.avatar_url} alt="" referrerpolicy="no-referrer">`
      : html`<span class="face" aria-hidden="true">${[...name.trim()][0]?.toLocaleUpperCase() ?? '?'}</span>`;
    return html`<div class="who">${face}<div><h2>${name}</h2><p class="small">${user.email}</p></div></div>
      <ul>${workspaces.map((it) => html`<li class="row"><span>${it.name}</span><span class="tag">${it.role}</span></li>`)}</ul>`;
  }
}
