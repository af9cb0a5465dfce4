import { html, nothing, type TemplateResult } from 'lit';
import { define } from './define.ts';
import { fieldsOf } from './form-fields.ts';
import { renderOrigins } from './origins.ts';
import { RequestsSection } from './requests.ts';
import { SectionedWidget } from './sectioned-widget.ts';

interface ApiKey {
  key_id: string;
  name: string;
  obfuscated_value: string;
  permissions: string[];
  created_at: string;
  expires_at?: string;
  last_used_at?: string;
}

interface Developers {
  api_keys: ApiKey[];
  permissions: string[];
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;

/** The API keys of a workspace, its latest API requests, and the sites that may embed its widgets. */
class DevelopersWidget extends SectionedWidget<Developers> {
  protected readonly widget = 'developers';
  readonly #requests = new RequestsSection(this.host);
  #origins: string[] = [];
  /**
   * The secret of the key that was just created. It is shown until the user confirms having copied it, and is not
   * stored.
   */
  #secret = '';

  protected override async load({ permissions }: Developers): Promise<void> {
    if (!permissions.includes('developers:manage')) return;
    this.#origins = (await this.call<{ widget_origins: string[] }>('GET', '/widget-origins')).widget_origins;
  }

  protected renderAnswer(): TemplateResult {
    const { api_keys, permissions } = this.answer;
    const canChange = permissions.includes('developers:manage');
    return html`<h2 part="heading">${this.t('api_keys')}</h2>
      ${this.#secret === '' ? nothing : this.#renderSecret()}
      ${api_keys.length === 0 ? html`<p class="small">${this.t('no_keys')}</p>` : nothing}
      <ul>${api_keys.map((key) => this.#renderKey(key, canChange))}</ul>
      ${canChange ? this.#renderCreate(permissions) : nothing}
      ${canChange ? this.#renderRequests(api_keys) : nothing}
      ${canChange ? html`<h3 part="heading">${this.t('origins')}</h3>${renderOrigins(this.#origins, this.#originsHost)}` : nothing}`;
  }

  #renderRequests(keys: readonly ApiKey[]): TemplateResult {
    const toggled = (event: Event) => (event.currentTarget as HTMLDetailsElement).open && this.#requests.read();
    const names = new Map(keys.map(({ key_id, name }) => [key_id, name]));
    return html`<details class="section" part="section" @toggle=${toggled}><summary>${this.t('request_log')}</summary>${this.#requests.render(names)}</details>`;
  }

  #originsHost = {
    t: this.t,
    ask: this.ask.bind(this),
    change: (widget_origins: string[]) => this.act('PATCH', '/widget-origins', { widget_origins }),
  };

  #renderKey(key: ApiKey, canChange: boolean): TemplateResult {
    const day = (at: string) => this.translation?.day(at) ?? '';
    const used = key.last_used_at ? this.t('last_used', { time: day(key.last_used_at) }) : this.t('not_used');
    const ends = key.expires_at ? this.t('ends', { time: day(key.expires_at) }) : this.t('does_not_end');
    const revoke = () =>
      this.ask(this.t('ask_revoke_key', { key: key.name }), this.t('revoke'), () =>
        this.act('DELETE', `/api-keys/${key.key_id}`, undefined, 'key_revoked'),
      );
    return html`<li part="row"><div class="row"><p>${key.name} <code class="small" dir="ltr">${key.obfuscated_value}</code></p>
        ${canChange ? html`<button class="bad" part="button danger" type="button" aria-label=${this.t('revoke_named', { name: key.name })} @click=${revoke}>${this.t('revoke')}</button>` : nothing}</div>
      <p class="small">${this.t('made', { time: day(key.created_at) })} · ${used} · ${ends}</p>
      ${key.permissions.length === 0 ? nothing : html`<p class="small">${this.t('restricted_to', { permissions: key.permissions.join(', ') })}</p>`}</li>`;
  }

  #renderCreate(permissions: readonly string[]): TemplateResult {
    const create = async (event: SubmitEvent) => {
      const form = event.currentTarget as HTMLFormElement;
      const fields = fieldsOf(event);
      const days = Number(fields.get('days'));
      const chosen = fields.getAll('permission');
      const made = await this.act(
        'POST',
        '/api-keys',
        {
          name: fields.get('name'),
          ...(days > 0 && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
          ...(chosen.length > 0 && { permissions: chosen }),
        },
        'key_created',
      );
      if (!made) return;
      this.#secret = (made as { secret: string }).secret;
      form.reset();
      this.requestUpdate();
      await this.updateComplete;
      this.shadowRoot?.querySelector<HTMLElement>('.secret button')?.focus();
    };
    return html`<form part="form" @submit=${create}><div class="fields"><label>${this.t('key_name')}<input part="input" name="name" required maxlength="100" autocomplete="off"></label>
      <label>${this.t('valid_for')}<select part="input" name="days">${[30, 90, 365].map((days) => html`<option value=${days} ?selected=${days === DEFAULT_DAYS}>${this.t('days', { count: days })}</option>`)}<option value="0">${this.t('without_end')}</option></select></label>
      <button class="main" part="button">${this.t('create_key')}</button></div>
      <details><summary>${this.t('restrict')}</summary>${permissions.map((it) => html`<label class="check"><input type="checkbox" name="permission" value=${it}>${it}</label>`)}</details></form>`;
  }

  #renderSecret(): TemplateResult {
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(this.#secret);
        this.notify({ text: this.t('copied') });
      } catch {
        // The page may forbid clipboard access; the user can select the key.
        this.notify({ text: this.t('not_copied') });
      }
    };
    const keep = () => {
      this.#secret = '';
      this.notify({ text: '' });
    };
    return html`<div class="secret" part="secret"><p>${this.t('shown_once')}</p><p><code dir="ltr">${this.#secret}</code></p>
      <div class="fields"><button type="button" part="button" @click=${() => void copy()}>${this.t('copy')}</button>
      <button type="button" part="button" @click=${keep}>${this.t('kept')}</button></div></div>`;
  }
}

define('ibid-developers', DevelopersWidget);
