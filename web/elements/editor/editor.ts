import { ApiError, callApi, errorMessage } from '../call-api.ts';
import { drawDiagrams, drawFormulas } from '../lazy-modules.ts';
import { PageSaving } from '../saving/page-saving.ts';
import { createTextView, type TextView } from './text/text-view.ts';

const PREVIEW_DELAY_MS = 350;

/**
 * The editor with its preview: `text` is the text as it is, and `change` is sent whenever it or the title changes. Without
 * scripts the form's textarea is what is submitted.
 */
class Editor extends HTMLElement {
  #view: TextView | undefined;
  #preview = document.createElement('div');
  #previewTimer: ReturnType<typeof setTimeout> | undefined;
  #saving: PageSaving | undefined;
  #previewRequest: AbortController | undefined;

  get #area(): HTMLTextAreaElement {
    return this.querySelector('textarea') as HTMLTextAreaElement;
  }
  get #title(): HTMLInputElement {
    return this.querySelector('input[name=title]') as HTMLInputElement;
  }
  get #api(): string {
    return `/v1/wikis/${this.dataset.wiki}`;
  }

  /** The text as it is in the editor, with its line breaks as they are written. */
  get text(): string {
    return this.#view?.text ?? this.#area.value;
  }
  set text(text: string) {
    if (this.#view) this.#view.text = text;
    else this.#area.value = text;
  }

  connectedCallback(): void {
    // Unlike `value`, `defaultValue` has the line breaks as they are written. The user may have typed before the script was
    // loaded, and browsers refill forms on a reload.
    const { value, defaultValue } = this.#area;
    const text = value === defaultValue.replace(/\r\n?/g, '\n') ? defaultValue : value;
    const target = {
      attachmentsUrl: () => (this.#saving as PageSaving).attachmentsUrl(),
      showStatus: (words: string) => this.#showStatus(words),
    };
    const view = createTextView(text, {
      ...target,
      api: this.#api,
      onChange: () => this.#changed(),
      save: () => this.#saving?.saveAsIs(),
    });
    this.#view = view;
    this.#area.hidden = true;
    this.#area.required = false;
    this.#area.parentElement?.after(view.host);
    this.#preview.className = 'prose preview';
    this.#preview.setAttribute('aria-label', 'Preview');
    this.#preview.setAttribute('role', 'region');
    this.#preview.tabIndex = 0;
    this.querySelector('.panes')?.append(this.#preview);
    this.#preview.addEventListener('click', (event) => this.#openLink(event));
    this.#title.addEventListener('input', () => this.#changed());
    this.#saving = new PageSaving(this);
    void this.#renderPreview();
    if (this.#title.value !== '') view.view.focus();
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
    clearTimeout(this.#previewTimer);
    this.#previewTimer = setTimeout(() => void this.#renderPreview(), PREVIEW_DELAY_MS);
  }

  #showStatus(words: string): void {
    const state = this.querySelector('.draft-state');
    if (state) state.textContent = words;
  }

  async #renderPreview(): Promise<void> {
    this.#previewRequest?.abort();
    this.#previewRequest = new AbortController();
    const body = { markdown: this.text, page_path: this.dataset.path || 'page' };
    try {
      const { html } = await callApi<{ html: string }>(
        'POST',
        `${this.#api}/preview`,
        body,
        this.#previewRequest.signal,
      );
      // The API has sanitized it, as it does with every page.
      this.#preview.innerHTML = html;
      if (/class="(?:math|language-math)/.test(html)) await drawFormulas(this.#preview);
      if (html.includes('<pre class="mermaid"')) await drawDiagrams(this.#preview);
    } catch (error) {
      if ((error as Error).name === 'AbortError') return;
      if (error instanceof ApiError && error.status === 401) {
        await this.#saving?.signIn();
        return this.#renderPreview();
      }
      // Too much is being rendered just now: the last preview stays until there is room for the next one.
      if (error instanceof ApiError && error.status === 429) {
        clearTimeout(this.#previewTimer);
        const seconds = error.retry_after ?? 1;
        this.#previewTimer = setTimeout(() => void this.#renderPreview(), 1_000 * seconds);
        return;
      }
      this.#preview.textContent = `There is no preview: ${errorMessage(error)}`;
    }
  }

  /** Opens links of the preview in a new tab, resolved against the address of the page. */
  #openLink(event: MouseEvent): void {
    const href = (event.target as Element).closest('a')?.getAttribute('href');
    if (!href || href.startsWith('#')) return;
    event.preventDefault();
    window.open(new URL(href, `${location.origin}${this.dataset.root}/${this.dataset.path}`), '_blank', 'noopener');
  }
}

customElements.define('ibid-editor', Editor);
