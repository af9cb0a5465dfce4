import { html, nothing, type TemplateResult } from 'lit';
import { ownPicturePath } from '../people/avatar.ts';
import { browserName } from '../people/browser-name.ts';
import { scalePicture } from '../upload/scale-picture.ts';
import { define } from './define.ts';
import { renderFace } from './face.ts';
import { fieldsOf } from './form-fields.ts';
import { LANGUAGES } from './translate.ts';
import { Widget } from './widget.ts';

interface Profile {
  user: { email: string; display_name: string; avatar_url: string };
  workspaces: { workspace_id: string; name: string; role: string }[];
  workspace_id: string;
  membership_id: string;
  can_change: boolean;
  can_manage_sessions: boolean;
}

interface Preferences {
  language: string;
  time_zone: string;
}

interface Session {
  session_id: string;
  last_used_at: string;
  address: string;
  user_agent: string;
  current: boolean;
}

/** A user: picture, name, language, time zone, ways to sign in, sessions, and their workspaces. */
class ProfileWidget extends Widget<Profile> {
  protected readonly widget = 'profile';
  #preferences: Preferences = { language: '', time_zone: '' };
  #methods: { method: string; name: string }[] = [];
  #sessions: Session[] = [];

  protected override async load({ can_change, can_manage_sessions }: Profile): Promise<void> {
    if (can_change) {
      [this.#preferences, this.#methods] = await Promise.all([
        this.call<Preferences>('GET', '/preferences'),
        this.call<{ method: string; name: string }[]>('GET', '/sign-in-methods'),
      ]);
      await this.prefer(this.#preferences.language, this.#preferences.time_zone);
    }
    this.#sessions = can_manage_sessions ? await this.call<Session[]>('GET', '/sessions?limit=500') : [];
  }

  protected renderAnswer(): TemplateResult {
    const { user, can_change, can_manage_sessions } = this.answer;
    const name = user.display_name || user.email;
    return html`<div class="who">${renderFace(user, this.service)}<div><h2 part="heading">${name}</h2><p class="small">${user.email}</p></div></div>
      ${can_change ? this.#renderPicture(user.avatar_url) : nothing}
      ${can_change ? this.#renderForms(user.display_name) : nothing}
      ${can_change ? this.#renderMethods() : nothing}
      ${can_manage_sessions ? this.#renderSessions() : nothing}
      ${this.#renderWorkspaces()}`;
  }

  #renderPicture(address: string): TemplateResult {
    const choose = async ({ currentTarget }: Event) => {
      const input = currentTarget as HTMLInputElement;
      const [file] = input.files ?? [];
      if (file) await this.act('PUT', '/avatar', await scalePicture(file));
      input.value = '';
    };
    const remove = () => this.act('DELETE', '/avatar');
    return html`<div class="fields" part="form">
      <label class="file" part="button">${this.t('choose_picture')}<input name="picture" type="file" accept="image/png,image/jpeg,image/webp,image/gif" @change=${(event: Event) => void choose(event)}></label>
      ${ownPicturePath(address) !== undefined ? html`<button part="button" type="button" @click=${() => void remove()}>${this.t('remove_picture')}</button>` : nothing}</div>`;
  }

  #renderForms(name: string): TemplateResult {
    const { language, time_zone } = this.#preferences;
    const names = new Intl.DisplayNames([this.translation?.language ?? 'en'], { type: 'language' });
    const save = (event: SubmitEvent) => {
      const form = fieldsOf(event);
      void this.act('PATCH', '/preferences', { language: form.get('language'), time_zone: form.get('time_zone') });
    };
    return html`<form class="fields" part="form" @submit=${(event: SubmitEvent) => void this.act('PATCH', '', { display_name: fieldsOf(event).get('name') })}>
        <label>${this.t('name')}<input part="input" name="name" required maxlength="100" autocomplete="name" .value=${name}></label>
        <button class="main" part="button">${this.t('save_name')}</button></form>
      <form class="fields" part="form" @submit=${save}>
        <label>${this.t('language')}<select part="input" name="language"><option value="" ?selected=${language === ''}>${this.t('as_page')}</option>
          ${LANGUAGES.map((it) => html`<option value=${it} ?selected=${it === language}>${names.of(it)}</option>`)}</select></label>
        <label>${this.t('time_zone')}<select part="input" name="time_zone"><option value="" ?selected=${time_zone === ''}>${this.t('as_browser')}</option>
          ${Intl.supportedValuesOf('timeZone').map((it) => html`<option ?selected=${it === time_zone}>${it}</option>`)}</select></label>
        <button class="main" part="button">${this.t('save_preferences')}</button></form>`;
  }

  #renderMethods(): TemplateResult {
    const named = { email: this.t('by_email'), password: this.t('by_password'), openid: this.t('by_openid') };
    return html`<h3 part="heading">${this.t('sign_in_methods')}</h3>
      <ul>${this.#methods.map(({ method, name }) => html`<li class="row" part="row"><span>${named[method as keyof typeof named]}</span><span class="small">${name}</span></li>`)}</ul>
      <p><a part="link" href="${this.service}/me" target="_blank" rel="noopener">${this.t('change_sign_in')}</a></p>`;
  }

  #renderSessions(): TemplateResult {
    const end = ({ session_id, user_agent }: Session) =>
      this.ask(this.t('ask_end_session', { browser: this.#browserOf(user_agent) }), this.t('end_session'), () =>
        this.act('DELETE', `/sessions/${session_id}`, undefined, 'session_ended'),
      );
    return html`<h3 part="heading">${this.t('sessions')}</h3>
      <ul>${this.#sessions.map(
        (it) => html`<li class="row" part="row"><div><p>${this.#browserOf(it.user_agent)}</p>
        <p class="small">${it.address} · ${this.t('last_used', { time: this.translation?.time(it.last_used_at) ?? '' })}</p></div>
        ${it.current ? html`<span class="tag" part="tag">${this.t('this_session')}</span>` : html`<button class="bad" part="button danger" type="button" @click=${() => end(it)}>${this.t('end_session')}</button>`}</li>`,
      )}</ul>`;
  }

  #browserOf(agent: string): string {
    return browserName(agent, ' · ') || this.t('unknown_browser');
  }

  #renderWorkspaces(): TemplateResult {
    const { workspaces, workspace_id, membership_id, can_change } = this.answer;
    const leave = (name: string) =>
      this.ask(this.t('ask_leave', { workspace: name }), this.t('leave'), () => this.#leave(membership_id));
    return html`<h3 part="heading">${this.t('workspaces')}</h3>
      <ul>${workspaces.map(
        (
          it,
        ) => html`<li class="row" part="row"><span>${it.name} <span class="tag" part="tag">${this.translation?.find(`role_${it.role}`) ?? it.role}</span></span>
        ${can_change && it.workspace_id === workspace_id ? html`<button class="bad" part="button danger" type="button" @click=${() => leave(it.name)}>${this.t('leave')}</button>` : nothing}</li>`,
      )}</ul>`;
  }

  /** Leaves a workspace. A user who has left has no widget in it, so the reload is refused and the page is told. */
  #leave(membership_id: string): Promise<unknown> {
    return this.act('DELETE', `/members/${membership_id}`, undefined, 'left');
  }
}

define('ibid-profile', ProfileWidget);
