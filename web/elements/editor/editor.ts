import { ApiError, callApi, errorMessage } from '../call-api.ts';
import { drawDiagrams, drawFormulas } from '../lazy-modules.ts';
import { deleteDraft, markSubmitted, readDraft, storeDraft } from './draft.ts';
import { createTextView, type TextView } from './text/text-view.ts';

const PREVIEW_DELAY_MS = 350;
const STORE_DELAY_MS = 400;

/**
 * The editor with its preview: `text` is the text as it is, and `change` is sent whenever it or the title changes. Without
 * scripts the form's textarea is what is submitted.
 */
class Editor extends HTMLElement {
  #view: TextView | undefined;
  #preview = document.createElement('div');
  #timers: Record<'keep' | 'preview', ReturnType<typeof setTimeout> | undefined> = {
    keep: undefined,
    preview: undefined,
  };
  #previewRequest: AbortController | undefined;

  get #form(): HTMLFormElement {
    return this.querySelector('form') as HTMLFormElement;
  }
  get #area(): HTMLTextAreaElement {
    return this.querySelector('textarea') as HTMLTextAreaElement;
  }
  get #title(): HTMLInputElement {
    return this.querySelector('input[name=title]') as HTMLInputElement;
  }
  get #base(): HTMLInputElement | null {
    return this.querySelector('input[name=base_revision]');
  }
  get #api(): string {
    return `/v1/wikis/${this.dataset.wiki}`;
  }
  get #key(): string {
    return `ibid-draft ${this.dataset.wiki} ${this.dataset.page || `new ${this.dataset.parent}`}`;
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
    // Unlike `value`, `defaultValue` has the line breaks as they are written.
    const original = { title: this.#title.defaultValue, markdown: this.#area.defaultValue };
    const text = this.#restoreDraft(original);
    const page = this.dataset.page ?? '';
    const target = {
      attachmentsUrl: page === '' ? '' : `${this.#api}/pages/${page}/attachments`,
      showStatus: (words: string) => this.#showStatus(words),
    };
    const view = createTextView(text, {
      ...target,
      api: this.#api,
      onChange: () => this.#changed(),
      save: () => this.#form.requestSubmit(this.querySelector<HTMLButtonElement>('.button.main')),
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
    this.#form.addEventListener('submit', () => {
      this.#storeDraft();
      markSubmitted(this.#key);
    });
    // A form sends each line break as CRLF: the text goes as JSON, which keeps them.
    this.#form.addEventListener('formdata', ({ formData }) => {
      formData.delete('markdown');
      formData.set('exact_markdown', JSON.stringify(this.text));
    });
    addEventListener('pagehide', () => this.#timers.keep !== undefined && this.#storeDraft());
    void this.#renderPreview();
    if (this.#title.value !== '') view.view.focus();
  }

  /** The text to begin with: an unsaved draft, or that of the form. A form that the service returned with a note is newer than the stored draft. */
  #restoreDraft(original: { title: string; markdown: string }): string {
    const draft = readDraft(this.#key);
    // The user may have typed before the script was loaded, and browsers refill forms on a reload.
    const isTextTyped = this.#area.value !== original.markdown.replace(/\r\n?/g, '\n');
    const isTyped = this.#title.value !== original.title || isTextTyped;
    const typed = isTextTyped ? this.#area.value : original.markdown;
    if (!draft) {
      if (isTyped) this.#changed();
      return typed;
    }
    if (this.dataset.fresh !== undefined) {
      this.#changed();
      return typed;
    }
    if (draft.title === original.title && draft.markdown === original.markdown) {
      deleteDraft(this.#key);
      return typed;
    }
    if (!isTyped) this.#title.value = draft.title;
    const base = this.#base?.value ?? '';
    if (this.#base) this.#base.value = draft.base_revision;
    const note = document.createElement('div');
    note.className = 'note';
    note.setAttribute('role', 'status');
    const words = document.createElement('p');
    words.textContent = `Your unsaved changes were restored, as of ${timeOf(draft.at)}.`;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'button';
    button.textContent = 'Discard them';
    button.addEventListener('click', () => {
      this.#title.value = original.title;
      if (this.#base) this.#base.value = base;
      this.text = original.markdown;
      clearTimeout(this.#timers.keep);
      this.#timers.keep = undefined;
      deleteDraft(this.#key);
      this.#showStatus('');
      note.remove();
    });
    note.append(words, button);
    this.prepend(note);
    return isTyped ? typed : draft.markdown;
  }

  #changed(): void {
    clearTimeout(this.#timers.keep);
    clearTimeout(this.#timers.preview);
    this.#showStatus('Not stored yet…');
    this.dispatchEvent(new Event('change'));
    this.#timers.keep = setTimeout(() => this.#storeDraft(), STORE_DELAY_MS);
    this.#timers.preview = setTimeout(() => void this.#renderPreview(), PREVIEW_DELAY_MS);
  }

  #storeDraft(): void {
    clearTimeout(this.#timers.keep);
    this.#timers.keep = undefined;
    const at = Date.now();
    const isKept = storeDraft(this.#key, {
      title: this.#title.value,
      markdown: this.text,
      base_revision: this.#base?.value ?? '',
      at,
    });
    this.#showStatus(
      isKept
        ? `Stored in this browser at ${timeOf(at)}, not saved yet`
        : 'Not saved, and this browser cannot store it: save soon',
    );
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
      // Too much is being rendered just now: the last preview stays until there is room for the next one.
      if (error instanceof ApiError && error.status === 429) {
        clearTimeout(this.#timers.preview);
        const seconds = error.retry_after ?? 1;
        this.#timers.preview = setTimeout(() => void this.#renderPreview(), 1_000 * seconds);
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

function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

customElements.define('ibid-editor', Editor);
