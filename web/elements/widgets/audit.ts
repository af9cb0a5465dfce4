import { html, nothing, type TemplateResult } from 'lit';
import { fieldsOf } from './form-fields.ts';
import type { Host } from './host.ts';
import type { Member, MembersSection } from './members.ts';
import { PagedList } from './paged-list.ts';

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

const DAY_MS = 86_400_000;
const NEWEST = { order: 'newest' };

/** The audit log of a workspace, newest first, filtered by kind, member and days. */
export class AuditSection {
  readonly #host: Host;
  readonly #members: MembersSection;
  readonly #events: PagedList<AuditEvent>;
  readonly #names = new Map<string, string>();
  /** Members that match the typed text. */
  #found: Member[] = [];
  /** Whether the user may list the members. */
  knowsMembers = false;

  constructor(host: Host, members: MembersSection) {
    this.#host = host;
    this.#members = members;
    this.#events = new PagedList<AuditEvent>(
      host,
      '/audit-events',
      (events) => events,
      (events) => this.#learnNames(events),
    );
    this.#events.query = NEWEST;
  }

  async open(): Promise<void> {
    if (!this.#events.items) await this.#events.search(NEWEST);
  }

  async #learnNames(events: readonly AuditEvent[]): Promise<void> {
    const unknown = new Set(events.map(({ actor_id }) => actor_id).filter((id) => id !== '' && !this.#names.has(id)));
    if (!this.knowsMembers) return;
    for (const { user_id, display_name, email } of await this.#members.ofUsers([...unknown])) {
      this.#names.set(user_id, display_name || email);
    }
  }

  async #suggest({ currentTarget }: Event): Promise<void> {
    const input = currentTarget as HTMLInputElement;
    const text = input.value.trim();
    input.setCustomValidity('');
    if (text === '') return;
    try {
      const found = await this.#members.find(text);
      // The user may have typed more since.
      if (input.value.trim() !== text) return;
      this.#found = found;
      this.#host.update();
    } catch (error) {
      this.#host.fail(error);
    }
  }

  /** Returns the id of the member with this exact email address, or of the only match; undefined otherwise. */
  async #meant(text: string): Promise<string | undefined> {
    const found = await this.#members.find(text);
    const exact = found.find(({ email }) => email.toLowerCase() === text.toLowerCase());
    return (exact ?? (found.length === 1 ? found[0] : undefined))?.user_id;
  }

  async #search(event: SubmitEvent): Promise<void> {
    const form = fieldsOf(event);
    const query: Record<string, string> = { ...NEWEST };
    const input = (event.currentTarget as HTMLFormElement).elements.namedItem('actor') as HTMLInputElement | null;
    const type = String(form.get('type')).trim();
    if (type !== '') query.type = type;
    const [after, before] = ['after', 'before'].map((name) => Date.parse(`${form.get(name)}T00:00:00Z`));
    if (after) query.after = new Date(after).toISOString();
    if (before) query.before = new Date(before + DAY_MS).toISOString();
    try {
      const text = input?.value.trim() ?? '';
      const actor_id = text === '' ? '' : await this.#meant(text);
      if (actor_id === undefined) {
        input?.setCustomValidity(this.#host.t('no_such_member'));
        input?.reportValidity();
        return;
      }
      if (actor_id !== '') query.actor_id = actor_id;
    } catch (error) {
      return this.#host.fail(error);
    }
    await this.#events.search(query);
  }

  #actorName(id: string): string {
    return this.#names.get(id) ?? (id || this.#host.t('the_service'));
  }

  render(): TemplateResult {
    const { t, translation } = this.#host;
    const events = this.#events.items;
    return html`<form class="fields" part="form" aria-label=${t('audit_log')} @submit=${(event: SubmitEvent) => void this.#search(event)}>
        <label>${t('event_type')}<input part="input" name="type" placeholder="wiki.renamed" dir="ltr" autocomplete="off"></label>
        ${this.knowsMembers ? this.#renderActor() : nothing}
        <label>${t('from_day')}<input part="input" name="after" type="date"></label>
        <label>${t('until_day')}<input part="input" name="before" type="date"></label>
        <button class="main" part="button">${t('search')}</button></form>
      <p class="small" role="status">${events === undefined ? t('waiting') : events.length === 0 ? t('no_events') : t('events_shown', { count: events.length })}</p>
      <ul>${events?.map(
        (
          it,
        ) => html`<li part="row"><div class="row"><code dir="ltr">${it.type}</code><span class="small">${translation()?.time(it.created_at)}</span></div>
        <p class="small">${this.#actorName(it.actor_id)} · ${it.target_name || it.target_id} · ${it.address}</p></li>`,
      )}</ul>
      ${this.#events.renderMore(t('audit_log'))}`;
  }

  #renderActor(): TemplateResult {
    const { t } = this.#host;
    return html`<label>${t('member')}<input part="input" name="actor" list="found" placeholder=${t('everyone')} maxlength="254" autocomplete="off" @input=${(event: Event) => void this.#suggest(event)}></label>
      <datalist id="found">${this.#found.map((it) => html`<option value=${it.email}>${it.display_name}</option>`)}</datalist>`;
  }
}
