import { html, LitElement, nothing, type PropertyValues } from 'lit';
import { errorMessage } from '../call-api.ts';
import { goTo } from '../navigation/navigate.ts';
import { onPage } from '../on-page.ts';
import { forgetAtSignOut } from '../recent/kept.ts';
import { recentEntries, rememberVisit } from '../recent/recent-pages.ts';
import { loadSavedSearches, recentSearches, rememberSearch, shownSearch } from '../recent/searches.ts';
import { findCommands } from './commands.ts';
import { entryList } from './entry-list.ts';
import { type Entry, type SearchScope, searchTexts, searchUrl, suggestTitles } from './find.ts';
import { paletteStyles } from './palette-styles.ts';
import { PressHold } from './press-hold.ts';

/** Titles are cheap, so they are requested while the user types; full-text search waits until the user pauses. */
const TITLES_AFTER_MS = 60;
const TEXTS_AFTER_MS = 200;

const FOUND: readonly Entry['kind'][] = ['title', 'text', 'source'];
/** Entries that start a search when chosen. */
const QUERIES: readonly Entry['kind'][] = ['suggestion', 'searched', 'saved'];

/**
 * The search dialog, operable by keyboard alone. It shows results while the user types; before that, recent pages,
 * recent searches and commands.
 */
export class Palette extends LitElement {
  static override properties = {
    entries: { state: true },
    chosen: { state: true },
    isAsking: { state: true },
    problem: { state: true },
  };
  static override styles = paletteStyles;
  declare entries: Entry[];
  declare chosen: number;
  declare isAsking: boolean;
  declare problem: string;
  #words = '';
  /** The words that the entries were found for. */
  #answeredWords = '';
  /** Enter was pressed before there were results: the first one opens when they arrive. */
  #isEager = false;
  /** The user has moved the selection since typing, so results must not move it. */
  #hasMoved = false;
  #request = new AbortController();
  #timers: ReturnType<typeof setTimeout>[] = [];
  readonly #hold = new PressHold();
  /** Loaded when the palette is first opened. */
  #saved: Entry[] | undefined;

  constructor() {
    super();
    this.entries = [];
    this.chosen = 0;
    this.isAsking = false;
    this.problem = '';
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', this.#onKey);
    onPage(() => {
      rememberVisit(this.dataset);
      rememberSearch(this.dataset, shownSearch(this.#scope.root));
      // The user has opened a result, so clear the search.
      if (this.hasUpdated) this.#input.value = this.#words = '';
    });
    forgetAtSignOut(this.dataset.user ?? '');
    for (const field of document.querySelectorAll<HTMLInputElement>('.find input')) {
      // Not on pointerdown: the click that follows would land outside the dialog and close it.
      field.addEventListener('click', this.#onField);
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

  readonly #onField = (event: MouseEvent) => {
    this.open((event.currentTarget as HTMLInputElement).value);
  };

  open(words = ''): void {
    const dialog = this.renderRoot.querySelector('dialog');
    if (!dialog || dialog.open) return;
    dialog.showModal();
    const input = this.#input;
    if (words !== '') input.value = words;
    input.select();
    if (input.value !== this.#words || input.value === '') this.#search(input.value);
    if (this.#saved === undefined) void this.#loadSaved();
  }

  async #loadSaved(): Promise<void> {
    this.#saved = [];
    try {
      this.#saved = await loadSavedSearches(this.dataset);
    } catch {
      // The palette works without them and requests them again on the next page.
    }
    if (this.#words.trim() === '') this.#showBeginning();
  }

  #showBeginning(): void {
    const { dataset } = this;
    this.entries = [
      ...recentEntries(dataset),
      ...recentSearches(dataset),
      ...(this.#saved ?? []),
      ...findCommands(dataset),
    ];
    if (!this.#hasMoved) this.chosen = 0;
    this.#answeredWords = this.#words;
  }

  #savedFor(words: string): Entry[] {
    const typed = words.trim().toLowerCase();
    return (this.#saved ?? []).filter(({ title }) => title.toLowerCase().includes(typed));
  }

  get #scope(): SearchScope {
    return { api: `/v1/wikis/${this.dataset.wiki}`, root: this.dataset.root ?? '' };
  }

  get #input(): HTMLInputElement {
    return this.renderRoot.querySelector('input') as HTMLInputElement;
  }

  #search(words: string): void {
    this.#words = words;
    this.#isEager = false;
    this.#hasMoved = false;
    this.problem = '';
    for (const timer of this.#timers) clearTimeout(timer);
    // Drop replies for earlier input.
    this.#request.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    this.isAsking = words.trim() !== '';
    if (!this.isAsking) return this.#showBeginning();
    let titles: Promise<Entry[]>;
    const askTitles = () => {
      titles = suggestTitles(this.#scope, words, signal);
      void this.#showEntries(titles, words, signal, false);
    };
    const askTexts = () => void this.#showEntries(this.#withTexts(titles, words, signal), words, signal, true);
    this.#timers = [setTimeout(askTitles, TITLES_AFTER_MS), setTimeout(askTexts, TEXTS_AFTER_MS)];
  }

  /** Puts titles first, so that the selection does not move when the results of the full-text search arrive. */
  async #withTexts(titles: Promise<Entry[]>, words: string, signal: AbortSignal): Promise<Entry[]> {
    const [first, texts] = await Promise.all([titles, searchTexts(this.#scope, words, signal)]);
    const known = new Set(first.map(({ href }) => href));
    const others = texts.filter(({ kind, href }) => kind !== 'text' || !known.has(href.replace(/#.*$/, '')));
    return [...first, ...others];
  }

  async #showEntries(answer: Promise<Entry[]>, words: string, signal: AbortSignal, isAll: boolean): Promise<void> {
    try {
      const found = await answer;
      // Without a matching title, the previous results stay visible until the full-text search has replied.
      if (found.length > 0 || isAll) this.#hold.run(() => signal.aborted || this.#setFound(found, words, isAll));
    } catch (error) {
      if (signal.aborted) return;
      this.isAsking = false;
      this.problem = errorMessage(error);
    }
  }

  /**
   * Shows results. Other entries are appended only once the full-text results have arrived, so that no visible entry
   * moves.
   */
  #setFound(found: Entry[], words: string, isAll: boolean): void {
    const href = searchUrl(this.#scope, words);
    const all: Entry = { kind: 'all', href, title: `All results for “${words.trim()}”`, where: '', snippet: '' };
    const others = isAll ? [...this.#savedFor(words), ...findCommands(this.dataset, words)] : [];
    const known = [...found, ...others];
    const held = this.#hasMoved ? this.entries[this.chosen] : undefined;
    this.entries = isAll && known.length > 0 ? [...known, all] : known;
    const first = this.entries.findIndex(({ kind }) => FOUND.includes(kind));
    const same = this.entries.findIndex(({ kind, href }) => kind === held?.kind && href === held.href);
    // A correction precedes the results, so select the first result.
    this.chosen = same >= 0 ? same : Math.max(0, first);
    this.#answeredWords = words;
    if (isAll) this.isAsking = false;
    if (this.#isEager && (isAll || first >= 0)) this.#openChosen();
  }

  #move(event: KeyboardEvent): void {
    const { length } = this.entries;
    const to: Record<string, number> = {
      ArrowDown: (this.chosen + 1) % length,
      ArrowUp: (this.chosen + length - 1) % length,
      Home: 0,
      End: length - 1,
    };
    const next = to[event.key];
    const isPlain = !(event.shiftKey || event.ctrlKey || event.metaKey || event.altKey);
    if (event.key === 'Enter') this.#openChosen(event.ctrlKey || event.metaKey);
    else if (next !== undefined && length > 0 && isPlain) this.#choose(next);
    else return;
    event.preventDefault();
  }

  #choose(at: number): void {
    this.chosen = at;
    this.#hasMoved = true;
  }

  readonly #pointed = {
    choose: (at: number) => this.#choose(at),
    open: (at: number, inNewTab: boolean) => {
      this.#choose(at);
      this.#openChosen(inNewTab);
    },
  };

  #openChosen(inNewTab = false): void {
    if (this.#words.trim() === '' && this.entries.length === 0) return;
    // Open the entry that the user pressed or selected, even if it was found for earlier words.
    this.#isEager = this.#answeredWords !== this.#words && this.problem === '' && !this.#hasMoved;
    if (this.#isEager) return;
    const entry = this.problem === '' ? this.entries[this.chosen] : undefined;
    if (entry && QUERIES.includes(entry.kind)) return this.#searchFor(entry.href);
    if (entry?.kind !== 'command') rememberSearch(this.dataset, this.#words);
    const href = entry?.href ?? searchUrl(this.#scope, this.#words);
    const isButton = Boolean(entry?.press);
    if (inNewTab && !isButton) return void window.open(href, '_blank', 'noopener');
    this.renderRoot.querySelector('dialog')?.close();
    if (isButton) document.querySelector<HTMLElement>(entry?.press ?? '')?.click();
    else void goTo(href);
  }

  #searchFor(words: string): void {
    this.#input.value = words;
    this.#search(words);
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has('chosen') || changed.has('entries'))
      this.renderRoot.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }

  override render() {
    const { entries, chosen } = this;
    return html`<dialog aria-label="Search" @click=${(event: Event) => event.target === event.currentTarget && (event.currentTarget as HTMLDialogElement).close()}>
      <input type="text" enterkeyhint="search" role="combobox" aria-label="Search this wiki" aria-expanded=${entries.length > 0} aria-controls="found" aria-autocomplete="list"
        aria-activedescendant=${entries.length > 0 ? `entry-${chosen}` : nothing} placeholder="Search pages and sources" maxlength="1024" autocomplete="off" spellcheck="false" autofocus
        @input=${(event: Event) => this.#search((event.target as HTMLInputElement).value)} @keydown=${this.#move}>
      <div id="found" role="listbox" aria-label="Results" aria-busy=${this.isAsking} ?hidden=${entries.length === 0} @pointerdown=${this.#hold.press}>${entryList(entries, chosen, this.#pointed)}</div>
      <div role="status">${this.#status()}</div>
      <p class="keys">↑ ↓ to select, Enter to open, Esc to close</p>
    </dialog>`;
  }

  #status() {
    const { entries, isAsking, problem } = this;
    if (problem !== '') return html`<p class="problem">${problem}</p>`;
    if (isAsking || this.#words.trim() === '') return nothing;
    if (entries.length === 0) return html`<p>No results for these words. Try fewer or different words.</p>`;
    const { length } = entries.filter(({ kind }) => FOUND.includes(kind));
    return html`<p class="for-ears">${length} ${length === 1 ? 'result' : 'results'}</p>`;
  }
}

customElements.define('ibid-palette', Palette);

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0] as HTMLElement;
  return target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName);
}
