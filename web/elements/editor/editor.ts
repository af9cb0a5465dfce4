import { fillTemplate } from '../../../src/wiki/templates/fill-template.ts';
import { PageSaving } from '../saving/page-saving.ts';
import { titleInText } from '../saving/rename-heading.ts';
import { editorTools } from './editor-tools.ts';
import { Preview } from './preview.ts';
import { firstPlace } from './text/first-place.ts';
import { FRONT_MATTER_START, loadProperties } from './text/properties/load-properties.ts';
import './text/properties/properties.css';
import './text/resting-caret.css';
import './text/rich/rich.css';
import { createTextView, loadTextStyles, type TextView } from './text/text-view.ts';
import type { Toolbar } from './toolbar.ts';
import { WordCount } from './word-count.ts';

/** Characters at the beginning of the text in which the title is searched. */
const TITLE_WITHIN = 20_000;

/**
 * The editor element. `text` is the current text, and `change` is dispatched when the text or the title changes.
 * Without scripts, the form submits its textarea.
 */
class Editor extends HTMLElement {
  #view: TextView | undefined;
  #preview: Preview | undefined;
  #tools: Toolbar | undefined;
  #saving: PageSaving | undefined;
  #words: WordCount | undefined;
  /** The title that the text begins with; undefined without one. */
  #titleInText: string | undefined;

  get #area(): HTMLTextAreaElement {
    return this.querySelector('textarea') as HTMLTextAreaElement;
  }
  get #title(): HTMLInputElement {
    return this.querySelector('input[name=title]') as HTMLInputElement;
  }
  get #api(): string {
    return `/v1/wikis/${this.dataset.wiki}`;
  }
  get #pageUrl(): string {
    return `${location.origin}${this.dataset.root}/${this.dataset.path}`;
  }

  /** The current text with its original line breaks. */
  get text(): string {
    return this.#view?.text ?? this.#area.value;
  }
  set text(text: string) {
    if (this.#view) this.#view.text = text;
    else this.#area.value = text;
  }

  get textParts(): readonly string[] {
    return this.#view?.textParts ?? [this.#area.value];
  }

  get textLength(): number {
    return this.#view?.view.state.doc.length ?? 0;
  }

  override focus(): void {
    this.#view?.view.focus();
  }

  async connectedCallback(): Promise<void> {
    const hasFrontMatter = FRONT_MATTER_START.test(this.#area.defaultValue.slice(0, 200).replaceAll('\r\n', '\n'));
    // Load the rows first, because drawing them later would move the text. If they cannot be loaded, front matter is
    // shown as source.
    const properties = hasFrontMatter && loadProperties().catch(() => undefined);
    const styles = await loadTextStyles();
    await properties;
    if (this.dataset.template !== undefined) this.#fillIn();
    // Unlike `value`, `defaultValue` keeps the original line breaks. The user may have typed before the script was
    // loaded, and browsers refill forms on a reload.
    const { value, defaultValue, selectionStart, selectionEnd } = this.#area;
    const { activeElement } = document;
    const text = value === defaultValue.replace(/\r\n?/g, '\n') ? defaultValue : value;
    const view = createTextView(text, styles, {
      api: this.#api,
      root: this.dataset.root ?? '',
      attachmentsUrl: () => (this.#saving as PageSaving).attachmentsUrl(),
      pagePath: () => this.dataset.path || 'page',
      values: () => this.#values,
      showStatus: (words) => this.#showStatus(words),
      resolvePicture: (address) => this.#pictureUrl(address),
      onChange: () => this.#changed(),
      onSelect: () => {
        this.#tools?.update();
        this.#words?.changed();
      },
      save: () => this.#saving?.saveAsIs(),
    });
    this.#view = view;
    this.#preview = new Preview({
      api: this.#api,
      path: this.dataset.path || 'page',
      pageUrl: this.#pageUrl,
      read: () => this.text,
      signIn: async () => this.#saving?.signIn(),
    });
    this.#tools = editorTools(view, this.#preview);
    if (this.#hasOneTitle) this.#titleInText = titleInText(text);
    this.#area.hidden = true;
    this.#area.required = false;
    this.#area.parentElement?.after(view.host, this.#preview.element);
    this.querySelector('.panes')?.before(this.#tools.element);
    this.#words = new WordCount(view.view);
    this.querySelector('.draft-state')?.before(this.#words.element);
    this.#title.addEventListener('input', () => this.#changed());
    this.#title.addEventListener('keydown', (event) => this.#leaveTitle(event));
    this.#saving = new PageSaving(this);
    if (activeElement === this.#area) view.select(selectionStart, selectionEnd);
    // Do not take the focus from a user who is typing the title.
    else if (activeElement !== this.#title && this.#title.value !== '') view.view.focus();
  }

  /**
   * Replaces the template variables that are already known in the default values, because unsaved changes are detected
   * by comparison with them.
   */
  #fillIn(): void {
    const { date, author } = this.#values;
    for (const field of [this.#area, this.#title]) {
      field.defaultValue = fillTemplate(field.defaultValue, { date, author });
    }
  }

  /** The values of template variables for this page. */
  get #values() {
    const { author = '' } = this.dataset;
    return { title: this.#title.value.trim(), date: new Date().toLocaleDateString('sv'), author };
  }

  get #hasOneTitle(): boolean {
    return this.querySelector('.title-in-text') !== null;
  }

  /**
   * Copies the title from the text if the text begins with it. Shows the title field again once the text no longer
   * does.
   */
  #followTitle(): void {
    if (!this.#hasOneTitle || !this.#view) return;
    const { doc } = this.#view.view.state;
    const title = titleInText(doc.sliceString(0, TITLE_WITHIN))?.slice(0, this.#title.maxLength);
    if (title && title !== this.#titleInText) this.#title.value = title;
    this.#titleInText = title;
    const isSame = title === '' || title === this.#title.value;
    if (!isSame) this.querySelector('.title-in-text')?.classList.remove('title-in-text');
  }

  /** Moves the caret from the title to the first words of the text at Enter. */
  #leaveTitle(event: KeyboardEvent): void {
    // An input method confirms a composition with the same key.
    if (event.key !== 'Enter' || event.isComposing || !this.#view) return;
    event.preventDefault();
    const start = firstPlace(this.#view.view.state.sliceDoc(0, TITLE_WITHIN));
    this.#view.select(start, start);
  }

  #changed(): void {
    this.#followTitle();
    this.dispatchEvent(new Event('change'));
    this.#preview?.changed();
  }

  /**
   * Shows the result of attaching or linking, separate from the saving state, which changes at each pause of typing.
   */
  #showStatus(words: string): void {
    const saving = this.querySelector('.draft-state');
    let state = this.querySelector('.action-state');
    if (!state) {
      state = document.createElement('span');
      state.className = 'action-state';
      state.setAttribute('role', 'status');
      saving?.before(state);
    }
    state.textContent = words;
  }

  #pictureUrl(address: string): string {
    const [, attachment] = /^attachment:(attachment_\w+)(?:#.*)?$/.exec(address) ?? [];
    if (attachment) return `${this.#api}/attachments/${attachment}`;
    return URL.parse(address, this.#pageUrl)?.href ?? '';
  }
}

customElements.define('ibid-editor', Editor);
