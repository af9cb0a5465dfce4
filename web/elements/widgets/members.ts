import { html, nothing, type TemplateResult } from 'lit';
import { renderFace } from './face.ts';
import { fieldsOf } from './form-fields.ts';
import type { Host } from './host.ts';
import { PagedList, showTogether } from './paged-list.ts';

export interface Member {
  membership_id: string;
  user_id: string;
  display_name: string;
  email: string;
  avatar_url: string;
  role: string;
  status: string;
}

interface Invitation {
  invitation_id: string;
  email: string;
  role: string;
  expires_at: string;
}

export interface Role {
  slug: string;
  name: string;
  permissions: string[];
}

/** Excludes invitations, which have their own list. */
const ALL = { invitations: 'none' };
const PENDING = { state: 'pending' };

/**
 * The members and invitations of a workspace. `grantable`: the roles that the user may assign; empty without permission
 * to manage members.
 */
export class MembersSection {
  readonly #host: Host;
  readonly #members: PagedList<Member, { members: Member[] }>;
  readonly #invitations: PagedList<Invitation>;
  roles: Role[] = [];
  grantable: Role[] = [];

  constructor(host: Host) {
    this.#host = host;
    this.#members = new PagedList(host, '/members', ({ members }) => members);
    this.#members.query = ALL;
    this.#invitations = new PagedList<Invitation>(host, '/invitations', (invitations) => invitations);
    this.#invitations.query = PENDING;
  }

  get #canManage(): boolean {
    return this.grantable.length > 0;
  }

  /** Reloads the shown members and invitations. */
  async read(): Promise<void> {
    await Promise.all([this.#members.read(), ...(this.#canManage ? [this.#invitations.read()] : [])]);
  }

  /** Finds a few members whose name or address contains the query. */
  async find(query: string): Promise<Member[]> {
    const path = `/members?${new URLSearchParams({ ...ALL, limit: '20', query })}`;
    return (await this.#host.call<{ members: Member[] }>('GET', path)).members;
  }

  async ofUsers(user_ids: readonly string[]): Promise<Member[]> {
    if (user_ids.length === 0) return [];
    const path = `/members?${new URLSearchParams({ ...ALL, user_id: user_ids.join(',') })}`;
    return (await this.#host.call<{ members: Member[] }>('GET', path)).members;
  }

  render(): TemplateResult {
    const { t } = this.#host;
    const [members, invitations] = [this.#members.items ?? [], this.#invitations.items ?? []];
    const isSearched = 'query' in this.#members.query;
    const isLong = isSearched || this.#members.hasMore || this.#invitations.hasMore;
    return html`<h3 part="heading">${t('members')}</h3>
      ${isLong ? this.#renderSearch() : nothing}
      ${isSearched ? html`<p class="small" role="status">${members.length === 0 ? t('none_found') : t('people_shown', { count: members.length })}</p>` : nothing}
      <ul>${members.map((it) => this.#renderMember(it, this.#canManage && this.#isGrantable(it.role)))}</ul>
      ${this.#members.renderMore(t('members'))}
      ${this.#canManage ? this.#renderInvite() : nothing}
      ${
        invitations.length === 0
          ? nothing
          : html`<h3 part="heading">${t('invitations')}</h3>
        <ul>${invitations.map((it) => this.#renderInvitation(it, this.#isGrantable(it.role)))}</ul>
        ${this.#invitations.renderMore(t('invitations'))}`
      }`;
  }

  #renderSearch(): TemplateResult {
    const { t } = this.#host;
    const search = (event: SubmitEvent) => {
      const text = String(fieldsOf(event).get('query')).trim();
      const query = text === '' ? undefined : { query: text };
      const found = [this.#members.find({ ...ALL, ...query })];
      if (this.#canManage) found.push(this.#invitations.find({ ...PENDING, ...query }));
      void showTogether(this.#host, found);
    };
    return html`<form class="fields" role="search" part="form" @submit=${search}>
      <label>${t('find_people')}<input part="input" name="query" type="search" maxlength="254" autocomplete="off"></label>
      <button part="button">${t('search')}</button></form>`;
  }

  #isGrantable(slug: string): boolean {
    return this.grantable.some((role) => role.slug === slug);
  }

  roleName(slug: string): string {
    return this.#host.translation()?.find(`role_${slug}`) ?? this.roles.find((it) => it.slug === slug)?.name ?? slug;
  }

  #renderOptions(chosen: string): TemplateResult[] {
    return this.grantable.map(
      ({ slug }) => html`<option value=${slug} ?selected=${slug === chosen}>${this.roleName(slug)}</option>`,
    );
  }

  #renderMember(member: Member, canChange: boolean): TemplateResult {
    const { t, ask, act } = this.#host;
    const { membership_id, display_name, email, role, status } = member;
    const name = display_name || email;
    const path = `/members/${membership_id}`;
    const changeRole = (event: Event) => {
      const select = event.currentTarget as HTMLSelectElement;
      const wanted = select.value;
      select.value = role;
      ask(t('ask_role', { name, role: this.roleName(wanted) }), t('change_role'), () =>
        act('PATCH', path, { role: wanted }),
      );
    };
    const remove = () =>
      ask(t('ask_remove_member', { name }), t('remove'), () => act('DELETE', path, undefined, 'member_removed'));
    const deactivate = () =>
      ask(t('ask_deactivate', { name }), t('deactivate'), () => act('POST', `${path}/deactivate`));
    const isActive = status === 'active';
    return html`<li class="row" part="row"><div class="who">${renderFace(member, this.#host.service())}<div><p>${name} ${isActive ? nothing : html`<span class="tag" part="tag">${t('inactive')}</span>`}</p><p class="small">${email}</p></div></div>
      <div class="acts">${
        canChange
          ? html`${isActive ? html`<select class="role" part="input" aria-label=${t('role_of', { name })} .value=${role} @change=${changeRole}>${this.#renderOptions(role)}</select>` : nothing}
        ${
          isActive
            ? html`<button type="button" part="button" aria-label=${t('deactivate_named', { name })} @click=${deactivate}>${t('deactivate')}</button>`
            : html`<button type="button" part="button" aria-label=${t('reactivate_named', { name })} @click=${() => void act('POST', `${path}/reactivate`)}>${t('reactivate')}</button>`
        }
        <button type="button" class="bad" part="button danger" aria-label=${t('remove_named', { name })} @click=${remove}>${t('remove')}</button>`
          : html`<span class="tag" part="tag">${this.roleName(role)}</span>`
      }</div></li>`;
  }

  #renderInvite(): TemplateResult {
    const { t, act } = this.#host;
    const invite = async (event: SubmitEvent) => {
      const form = event.currentTarget as HTMLFormElement;
      const fields = fieldsOf(event);
      const body = { email: fields.get('email'), role: fields.get('role') };
      if (await act('POST', '/members/invite', body, 'invited')) form.reset();
    };
    return html`<form class="fields" part="form" aria-label=${t('invite')} @submit=${invite}>
      <label>${t('email')}<input part="input" name="email" type="email" required maxlength="254" autocomplete="off"></label>
      <label>${t('role')}<select part="input" name="role">${this.#renderOptions('member')}</select></label>
      <button class="main" part="button">${t('invite')}</button></form>`;
  }

  #renderInvitation({ invitation_id, email, role, expires_at }: Invitation, canChange: boolean): TemplateResult {
    const { t, ask, act, translation } = this.#host;
    const path = `/invitations/${invitation_id}`;
    const revoke = () =>
      ask(t('ask_revoke_invitation', { email }), t('revoke'), () =>
        act('POST', `${path}/revoke`, undefined, 'invitation_revoked'),
      );
    return html`<li class="row" part="row"><div><p>${email} <span class="tag" part="tag">${this.roleName(role)}</span></p>
        <p class="small">${t('ends', { time: translation()?.day(expires_at) ?? '' })}</p></div>
      ${
        canChange
          ? html`<div class="acts"><button type="button" part="button" aria-label=${t('resend_named', { name: email })} @click=${() => void act('POST', `${path}/resend`, undefined, 'invited')}>${t('resend')}</button>
        <button type="button" class="bad" part="button danger" aria-label=${t('revoke_named', { name: email })} @click=${revoke}>${t('revoke')}</button></div>`
          : nothing
      }</li>`;
  }
}
