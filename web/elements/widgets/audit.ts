import { html, nothing, type TemplateResult } from 'lit';
import { fieldsOf } from './form-fields.ts';
import type { Host } from './host.ts';
import type { Member } from './members.ts';

interface AuditEvent {
  event_id: string;
  type: string;
  actor_id: string;
  target_id: string;
  target_name: string;
  request_id: string;
  address: string;
  created_at: string;
}

const PAGE_SIZE = 25;
const DAY_MS = 86_400_000;

/** The audit log of a workspace, newest first, by kind, member and days. */
export class AuditSection {
  readonly #host: Host;
  #query = '';
  #events: AuditEvent[] | undefined;
  #hasMore = false;

  constructor(host: Host) {
    this.#host = host;
  }

  async open(): Promise<void> {
    if (!this.#events) await this.#read([]);
  }

  /** Reads what follows `shown`. */
  async #read(shown: AuditEvent[]): Promise<void> {
    try {
      const page = `?order=newest&limit=${PAGE_SIZE}&offset=${shown.length}${this.#query}`;
      const more = await this.#host.call<AuditEvent[]>('GET', `/audit-events${page}`);
      this.#events = [...shown, ...more];
      this.#hasMore = more.length === PAGE_SIZE;
      this.#host.update();
    } catch (error) {
      this.#host.fail(error);
    }
  }

  #search(event: SubmitEvent): Promise<void> {
    const form = fieldsOf(event);
    const query = new URLSearchParams();
    for (const name of ['type', 'actor_id']) {
      const value = String(form.get(name)).trim();
      if (value !== '') query.set(name, value);
    }
    const [after, before] = ['after', 'before'].map((name) => Date.parse(`${form.get(name)}T00:00:00Z`));
    if (after) query.set('after', new Date(after).toISOString());
    if (before) query.set('before', new Date(before + DAY_MS).toISOString());
    this.#query = query.size === 0 ? '' : `&${query}`;
    return this.#read([]);
  }

  render(members: readonly Member[]): TemplateResult {
    const { t, translation } = this.#host;
    const events = this.#events;
    const actorName = (id: string) => {
      const member = members.find(({ user_id }) => user_id === id);
      return member?.display_name || member?.email || id || t('the_service');
    };
    return html`<form class="fields" part="form" aria-label=${t('audit_log')} @submit=${(event: SubmitEvent) => void this.#search(event)}>
        <label>${t('event_type')}<input part="input" name="type" placeholder="wiki.renamed" dir="ltr" autocomplete="off"></label>
        <label>${t('member')}<select part="input" name="actor_id"><option value="">${t('everyone')}</option>${members.map((it) => html`<option value=${it.user_id}>${it.display_name || it.email}</option>`)}</select></label>
        <label>${t('from_day')}<input part="input" name="after" type="date"></label>
        <label>${t('until_day')}<input part="input" name="before" type="date"></label>
        <button class="main" part="button">${t('search')}</button></form>
      <p class="small" role="status">${events === undefined ? t('waiting') : events.length === 0 ? t('no_events') : t('events_shown', { count: events.length })}</p>
      <ul>${events?.map(
        (
          it,
        ) => html`<li part="row"><div class="row"><code dir="ltr">${it.type}</code><span class="small">${translation()?.time(it.created_at)}</span></div>
        <p class="small">${actorName(it.actor_id)} · ${it.target_name || it.target_id} · ${it.address}</p></li>`,
      )}</ul>
      ${this.#hasMore ? html`<button type="button" part="button" @click=${() => void this.#read(events ?? [])}>${t('more')}</button>` : nothing}`;
  }
}
