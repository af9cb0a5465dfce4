import { autocompletion, closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { ApiError, callApi, errorMessage } from '../call-api.ts';
import { drawDiagrams, drawFormulas } from '../lazy-modules.ts';
import { deleteDraft, markSubmitted, readDraft, storeDraft } from './draft.ts';
import { pageLinks, slashMenu } from './editor-menus.ts';
import { handleDrop, handlePaste } from './editor-paste.ts';
import { editorTheme } from './editor-theme.ts';

const PREVIEW_DELAY_MS = 350;
const STORE_DELAY_MS = 400;

/** The editor with its preview. It writes into the form's textarea, which is what is submitted, with or without scripts. */
class Editor extends HTMLElement {
  #view: EditorView | undefined;
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

  connectedCallback(): void {
    this.#restoreDraft({ title: this.#title.defaultValue, markdown: this.#area.defaultValue });
    const host = document.createElement('div');
    const shadow = host.attachShadow({ mode: 'open' });
    const page = this.dataset.page ?? '';
    const target = {
      attachmentsUrl: page === '' ? '' : `${this.#api}/pages/${page}/attachments`,
      showStatus: (words: string) => this.#showStatus(words),
    };
    const view = new EditorView({
      doc: this.#area.value,
      root: shadow,
      parent: shadow,
      extensions: [
        history(),
        closeBrackets(),
        markdown({ base: markdownLanguage }),
        editorTheme,
        autocompletion({ override: [slashMenu, pageLinks(this.#api)], icons: false }),
        placeholder('Write in Markdown. A slash at the beginning of a line shows what there is.'),
        keymap.of([
          {
            key: 'Mod-s',
            run: () => {
              this.#form.requestSubmit(this.querySelector<HTMLButtonElement>('.button.main'));
              return true;
            },
          },
          { key: 'Mod-b', run: (view) => wrap(view, '**') },
          { key: 'Mod-i', run: (view) => wrap(view, '*') },
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Text, in Markdown', spellcheck: 'true' }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          this.#area.value = update.state.doc.toString();
          this.#changed();
        }),
        EditorView.domEventHandlers({
          paste: (event, view) => handlePaste(view, event, target),
          drop: (event, view) => handleDrop(view, event, target),
        }),
      ],
    });
    this.#view = view;
    this.#area.hidden = true;
    this.#area.required = false;
    this.#area.parentElement?.after(host);
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
    addEventListener('pagehide', () => this.#timers.keep !== undefined && this.#storeDraft());
    void this.#renderPreview();
    if (this.#title.value !== '') view.focus();
  }

  /** Restores an unsaved draft. A form that the service returned with a note is newer than the stored draft. */
  #restoreDraft(original: { title: string; markdown: string }): void {
    const draft = readDraft(this.#key);
    // The user may have typed before the script was loaded, and browsers refill forms on a reload.
    const isTyped = this.#title.value !== original.title || this.#area.value !== original.markdown;
    if (!draft) return isTyped ? this.#changed() : undefined;
    if (this.dataset.fresh !== undefined) return this.#storeDraft();
    if (draft.title === original.title && draft.markdown === original.markdown) return deleteDraft(this.#key);
    if (!isTyped) {
      this.#title.value = draft.title;
      this.#area.value = draft.markdown;
    }
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
      this.#view?.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: original.markdown } });
      clearTimeout(this.#timers.keep);
      this.#timers.keep = undefined;
      deleteDraft(this.#key);
      this.#showStatus('');
      note.remove();
    });
    note.append(words, button);
    this.prepend(note);
  }

  #changed(): void {
    clearTimeout(this.#timers.keep);
    clearTimeout(this.#timers.preview);
    this.#showStatus('Not stored yet…');
    this.#timers.keep = setTimeout(() => this.#storeDraft(), STORE_DELAY_MS);
    this.#timers.preview = setTimeout(() => void this.#renderPreview(), PREVIEW_DELAY_MS);
  }

  #storeDraft(): void {
    clearTimeout(this.#timers.keep);
    this.#timers.keep = undefined;
    const at = Date.now();
    const isKept = storeDraft(this.#key, {
      title: this.#title.value,
      markdown: this.#area.value,
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
    const body = { markdown: this.#area.value, page_path: this.dataset.path || 'page' };
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

function wrap(view: EditorView, mark: string): boolean {
  const { from, to } = view.state.selection.main;
  view.dispatch({
    changes: [
      { from, insert: mark },
      { from: to, insert: mark },
    ],
    selection: { anchor: from + mark.length, head: to + mark.length },
  });
  return true;
}

function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

customElements.define('ibid-editor', Editor);
