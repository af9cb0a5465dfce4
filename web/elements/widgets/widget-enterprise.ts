import { css, html, type TemplateResult } from 'lit';
import { Widget } from './widget.ts';

interface AccessSettings {
  name: string;
  seats: { active: number; used: number; granted: number; pending: number; unlimited: boolean };
  roles: { slug: string; name: string; permissions: string[]; members: number }[];
}

/** The seats of a workspace, the permissions of each role, and how many members have it. */
export class EnterpriseWidget extends Widget<AccessSettings> {
  protected readonly widget = 'enterprise';

  static override styles = [
    Widget.styles,
    css`
      meter { width: 100%; height: 0.7rem; margin-top: 0.5rem; }
      .permissions { margin: 0.2rem 0 0; color: var(--ink-2); font-size: 0.875rem; }
    `,
  ];

  protected renderAnswer({ name, seats, roles }: AccessSettings): TemplateResult {
    const { active, used, granted, pending, unlimited } = seats;
    const words = `${active} active, ${pending} invited${unlimited ? '; seats are not limited' : `, of ${granted} seats`}`;
    return html`<div class="row"><h2>Access to ${name}</h2><span class="small">${words}</span></div>
      ${unlimited || granted === 0 ? '' : html`<meter min="0" max=${granted} value=${Math.min(used, granted)} aria-label="Seats taken">${used} of ${granted}</meter>`}
      <ul>${roles.map(
        (
          role,
        ) => html`<li><div class="row"><span>${role.name}</span><span class="small">${people(role.members)}</span></div>
        <details><summary>Permissions</summary><p class="permissions">${role.permissions.join(', ')}</p></details></li>`,
      )}</ul>`;
  }
}

function people(count: number): string {
  return count === 0 ? 'no members' : count === 1 ? '1 person' : `${count} people`;
}
