import { html, nothing, type TemplateResult } from 'lit';
import { AuditSection } from './audit.ts';
import { define } from './define.ts';
import { MembersSection, type Role } from './members.ts';
import { renderOrigins } from './origins.ts';
import { PlansSection } from './plans.ts';
import { SectionedWidget } from './sectioned-widget.ts';

interface AccessSettings {
  name: string;
  slug: string;
  seats: { active: number; used: number; granted: number; pending: number; unlimited: boolean };
  permissions: string[];
  roles: (Role & { members: number })[];
}

/** A workspace: members, invitations and seats, its plan, the audit log, and the sites that may embed its widgets. */
class EnterpriseWidget extends SectionedWidget<AccessSettings> {
  protected readonly widget = 'enterprise';
  readonly #members = new MembersSection(this.host);
  readonly #plans = new PlansSection(this.host);
  readonly #audit = new AuditSection(this.host, this.#members);
  #origins: string[] = [];

  protected override async load({ permissions, roles }: AccessSettings): Promise<void> {
    this.#members.roles = roles;
    this.#members.grantable = permissions.includes('members:manage')
      ? roles.filter((role) => role.permissions.every((permission) => permissions.includes(permission)))
      : [];
    this.#audit.knowsMembers = permissions.includes('members:read');
    const [origins] = await Promise.all([
      permissions.includes('developers:manage')
        ? this.call<{ widget_origins: string[] }>('GET', '/widget-origins')
        : { widget_origins: [] },
      permissions.includes('members:read') ? this.#members.read() : undefined,
    ]);
    this.#origins = origins.widget_origins;
  }

  protected renderAnswer(): TemplateResult {
    const { name, slug, seats, permissions } = this.answer;
    const { active, used, granted, pending, unlimited } = seats;
    const words = unlimited
      ? this.t('seats_unlimited', { active, pending })
      : this.t('seats_of', { active, pending, granted });
    const can = (permission: string) => permissions.includes(permission);
    return html`<div class="row"><h2 part="heading">${this.t('access_to', { workspace: name })}</h2><span class="small">${words}</span></div>
      ${unlimited || granted === 0 ? nothing : html`<meter min="0" max=${granted} value=${Math.min(used, granted)} aria-label=${this.t('seats_taken')}></meter>`}
      ${can('members:read') ? this.#members.render() : this.#renderRoles()}
      ${can('billing:manage') ? this.#renderSection('plans', () => this.#plans.open(), this.#plans.render(`${this.service}/${slug}/-/billing`)) : nothing}
      ${can('enterprise:manage') ? this.#renderSection('audit_log', () => this.#audit.open(), this.#audit.render()) : nothing}
      ${can('developers:manage') ? this.#renderSection('origins', undefined, renderOrigins(this.#origins, this.#originsHost)) : nothing}`;
  }

  #originsHost = {
    t: this.t,
    ask: this.ask.bind(this),
    change: (widget_origins: string[]) => this.act('PATCH', '/widget-origins', { widget_origins }),
  };

  /** Renders a section that loads when it is opened. */
  #renderSection(
    title: 'plans' | 'audit_log' | 'origins',
    open: (() => Promise<void>) | undefined,
    content: TemplateResult,
  ): TemplateResult {
    const toggled = (event: Event) => (event.currentTarget as HTMLDetailsElement).open && open?.();
    return html`<details class="section" part="section" @toggle=${toggled}><summary>${this.t(title)}</summary>${content}</details>`;
  }

  #renderRoles(): TemplateResult {
    return html`<ul>${this.answer.roles.map(
      ({
        slug,
        members,
        permissions,
      }) => html`<li part="row"><div class="row"><span>${this.#members.roleName(slug)}</span><span class="small">${this.t('members_count', { count: members })}</span></div>
      <details><summary>${this.t('permissions')}</summary><p class="small">${permissions.join(', ')}</p></details></li>`,
    )}</ul>`;
  }
}

define('ibid-enterprise', EnterpriseWidget);
