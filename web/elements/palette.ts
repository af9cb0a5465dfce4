import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { ask, Refused } from './ask.ts';

interface Hit {
  page_id: string;
  path: string;
  title: string;
  snippet?: string;
  heading?: string;
  anchor?: string;
}

interface SourceHit {
  source_id: string;
  filename: string;
  title: string;
  snippet: string;
}

interface Entry {
  href: string;
  title: string;
  where: string;
  /** Safe: the API escapes it, and marks the words. */
  snippet: string;
}

const PAUSE_MS = 120;

/** Searches while one types, and goes where one chooses, by keyboard alone. */
export class Palette extends LitElement {
  static override properties = {
    entries: { state: true },
    chosen: { state: true },
    state: { state: true },
  };
  declare entries: Entry[];
  declare chosen: number;
  declare state: 'idle' | 'asking' | 'nothing' | 'failed';
  #words = '';
  #asked: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #problem = '';

  constructor() {
    super();
    this.entries = [];
    this.chosen = 0;
    this.state = 'idle';
  }

  static override styles = css`
    dialog { width: min(42rem, calc(100vw - 2rem)); margin: 12vh auto auto; padding: 0; border: 1px solid var(--line); border-radius: 14px; background: var(--paper); color: var(--ink); box-shadow: var(--shadow); overflow: hidden; }
    dialog::backdrop { background: rgb(20 20 15 / 45%); }
    input { width: 100%; box-sizing: border-box; border: 0; border-bottom: 1px solid var(--line); background: none; color: inherit; font: 1.15rem var(--sans); padding: 1rem 1.25rem; }
    input:focus { outline: none; border-bottom-color: var(--accent); box-shadow: 0 1px 0 var(--accent); }
    input::placeholder { color: var(--ink-2); opacity: 1; }
    ul { list-style: none; margin: 0; padding: 0.4rem; max-height: 55vh; overflow-y: auto; }
    li { padding: 0.55rem 0.85rem; border-radius: 8px; cursor: pointer; overflow-wrap: anywhere; }
    li[aria-selected='true'] { background: var(--accent-soft); }
    .where, .snippet { color: var(--ink-2); font-size: 0.875rem; }
    .snippet { display: -webkit-box; -webkit-line-clamp: 2; line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
    mark { background: var(--mark); color: var(--ink); }
    p { margin: 0; padding: 0.8rem 1.25rem; color: var(--ink-2); font-size: 0.9rem; }
    .keys { border-top: 1px solid var(--line); font-size: 0.8rem; }
  `;

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', this.#onKey);
    for (const field of document.querySelectorAll<HTMLInputElement>('.find input')) {
      field.addEventListener('pointerdown', this.#onField);
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('keydown', this.#onKey);
  }

  readonly #onKey = (event: KeyboardEvent) => {
    const isSlash = event.key === '/' && !isTyping(event);
    if (!(isSlash || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k'))) return;
    event.preventDefault();
    this.open();
  };

  readonly #onField = (event: PointerEvent) => {
    event.preventDefault();
    this.open((event.currentTarget as HTMLInputElement).value);
  };

  open(words = ''): void {
    const dialog = this.renderRoot.querySelector('dialog');
    if (!dialog || dialog.open) return;
    dialog.showModal();
    const input = dialog.querySelector('input');
    if (!input) return;
    if (words !== '') input.value = words;
    input.select();
    if (input.value !== this.#words) this.#type(input.value);
  }

  #type(words: string): void {
    this.#words = words;
    clearTimeout(this.#timer);
    this.#asked?.abort();
    if (words.trim() === '') {
      this.entries = [];
      this.state = 'idle';
      return;
    }
    this.#timer = setTimeout(() => void this.#search(words), PAUSE_MS);
  }

  async #search(words: string): Promise<void> {
    const asked = new AbortController();
    this.#asked = asked;
    this.state = 'asking';
    const api = `/v1/wikis/${this.dataset.wiki}`;
    const query = `query=${encodeURIComponent(words.slice(0, 1024))}`;
    try {
      const pages = await ask<Hit[]>('GET', `${api}/pages/search?${query}&limit=8`, undefined, asked.signal);
      this.entries = pages.map((hit) => this.#pageEntry(hit));
      this.chosen = 0;
      const sources = await this.#sources(`${api}/sources/search?${query}&limit=3`, asked.signal);
      this.entries = [...this.entries, ...sources];
      this.state = this.entries.length === 0 ? 'nothing' : 'idle';
    } catch (error) {
      if ((error as Error).name === 'AbortError') return;
      this.#problem = error instanceof Refused ? `${error.message} (request ${error.request_id})` : String(error);
      this.state = 'failed';
    }
  }

  /** Who may read pages may not always read what they were made from. */
  async #sources(address: string, signal: AbortSignal): Promise<Entry[]> {
    try {
      const hits = await ask<SourceHit[]>('GET', address, undefined, signal);
      return hits.map(({ source_id, filename, title, snippet }) => ({
        href: `${this.dataset.root}/-/sources/${source_id}`,
        title: filename || title,
        where: 'Source',
        snippet,
      }));
    } catch (error) {
      if (error instanceof Refused && error.status === 403) return [];
      throw error;
    }
  }

  #pageEntry({ path, title, snippet = '', heading = '', anchor = '' }: Hit): Entry {
    const fragment = anchor === '' ? '' : `#${encodeURIComponent(anchor)}`;
    const where = heading === '' || heading === title ? path : `${path} › ${heading}`;
    return { href: `${this.dataset.root}/${path}${fragment}`, title, where, snippet };
  }

  #move(event: KeyboardEvent): void {
    const count = this.entries.length;
    if (event.key === 'ArrowDown') this.chosen = count === 0 ? 0 : (this.chosen + 1) % count;
    else if (event.key === 'ArrowUp') this.chosen = count === 0 ? 0 : (this.chosen + count - 1) % count;
    else if (event.key === 'Enter') this.#go(event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  }

  #go(inNewTab = false): void {
    const entry = this.entries[this.chosen];
    const href = entry?.href ?? `${this.dataset.root}/-/search?query=${encodeURIComponent(this.#words)}`;
    if (!entry && this.#words.trim() === '') return;
    if (inNewTab) return void window.open(href, '_blank', 'noopener');
    this.renderRoot.querySelector('dialog')?.close();
    location.href = href;
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has('chosen'))
      this.renderRoot.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }

  override render() {
    const { entries, chosen, state } = this;
    return html`<dialog aria-label="Search" @click=${(event: Event) => event.target === event.currentTarget && (event.currentTarget as HTMLDialogElement).close()}>
      <input type="search" role="combobox" aria-label="Search this wiki" aria-expanded=${entries.length > 0} aria-controls="found" aria-autocomplete="list"
        aria-activedescendant=${entries.length > 0 ? `entry-${chosen}` : nothing} placeholder="Search pages and sources" maxlength="1024" autocomplete="off" autofocus
        @input=${(event: Event) => this.#type((event.target as HTMLInputElement).value)} @keydown=${this.#move}>
      <ul id="found" role="listbox" aria-label="Found" ?hidden=${entries.length === 0}>${entries.map(
        (
          entry,
          i,
        ) => html`<li id="entry-${i}" role="option" aria-selected=${i === chosen} @pointermove=${() => (this.chosen = i)}
          @click=${(event: MouseEvent) => this.#go(event.ctrlKey || event.metaKey)}>
          <strong>${entry.title}</strong> <span class="where">${entry.where}</span>
          <div class="snippet">${unsafeHTML(entry.snippet)}</div></li>`,
      )}</ul>
      <div role="status">${state === 'nothing' ? html`<p>Nothing holds any of these words. Try fewer or other words.</p>` : state === 'failed' ? html`<p>${this.#problem}</p>` : nothing}</div>
      <p class="keys">↑ ↓ to choose, Enter to go there, Esc to close</p>
    </dialog>`;
  }
}

customElements.define('ibid-palette', Palette);

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0] as HTMLElement;
  return target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName);
}
