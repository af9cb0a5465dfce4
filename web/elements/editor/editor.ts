import { autocompletion, closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { ask, wordsOf } from '../ask.ts';
import { drawDiagrams, drawFormulas } from '../own-files.ts';
import { dropDraft, keepDraft, markSent, readDraft } from './draft.ts';
import { editorLook } from './editor-look.ts';
import { pageLinks, slashMenu } from './editor-menus.ts';
import { takeDropped, takePasted } from './editor-paste.ts';

const PREVIEW_MS = 350;
const KEEP_MS = 400;

/** Writing with a preview beside it. Without this the form is a field for the text, which stays what is sent. */
class Editor extends HTMLElement {
  #view: EditorView | undefined;
  #preview = document.createElement('div');
  #timers: Record<'keep' | 'preview', ReturnType<typeof setTimeout> | undefined> = {
    keep: undefined,
    preview: undefined,
  };
  #asked: AbortController | undefined;

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
    this.#bringBack({ title: this.#title.defaultValue, markdown: this.#area.defaultValue });
    const host = document.createElement('div');
    const shadow = host.attachShadow({ mode: 'open' });
    const page = this.dataset.page ?? '';
    const receiver = {
      attachments: page === '' ? '' : `${this.#api}/pages/${page}/attachments`,
      say: (words: string) => this.#say(words),
    };
    const view = new EditorView({
      doc: this.#area.value,
      root: shadow,
      parent: shadow,
      extensions: [
        history(),
        closeBrackets(),
        markdown({ base: markdownLanguage }),
        editorLook,
        autocompletion({ override: [slashMenu, pageLinks(this.#api)], icons: false }),
        placeholder('Write in Markdown. A slash at the beginning of a line shows what there is.'),
        keymap.of([
          {
            key: 'Mod-s',
            run: () => (this.#form.requestSubmit(this.querySelector<HTMLButtonElement>('.button.main')), true),
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
          paste: (event, view) => takePasted(view, event, receiver),
          drop: (event, view) => takeDropped(view, event, receiver),
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
      this.#keep();
      markSent(this.#key);
    });
    addEventListener('pagehide', () => this.#timers.keep !== undefined && this.#keep());
    void this.#show();
    if (this.#title.value !== '') view.focus();
  }

  /** What was not saved the last time; beside a note of the service the form itself is the newest there is. */
  #bringBack(was: { title: string; markdown: string }): void {
    const draft = readDraft(this.#key);
    // Whoever is quick has begun before this was loaded, and a browser that reloads fills its forms by itself.
    const isTyped = this.#title.value !== was.title || this.#area.value !== was.markdown;
    if (!draft) return isTyped ? this.#changed() : undefined;
    if (this.dataset.fresh !== undefined) return this.#keep();
    if (draft.title === was.title && draft.markdown === was.markdown) return dropDraft(this.#key);
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
    words.textContent = `What you wrote and did not save is back, as of ${timeOf(draft.at)}.`;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'button';
    button.textContent = 'Throw it away';
    button.addEventListener('click', () => {
      this.#title.value = was.title;
      if (this.#base) this.#base.value = base;
      this.#view?.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: was.markdown } });
      clearTimeout(this.#timers.keep);
      this.#timers.keep = undefined;
      dropDraft(this.#key);
      this.#say('');
      note.remove();
    });
    note.append(words, button);
    this.prepend(note);
  }

  #changed(): void {
    clearTimeout(this.#timers.keep);
    clearTimeout(this.#timers.preview);
    this.#say('Not kept yet…');
    this.#timers.keep = setTimeout(() => this.#keep(), KEEP_MS);
    this.#timers.preview = setTimeout(() => void this.#show(), PREVIEW_MS);
  }

  #keep(): void {
    clearTimeout(this.#timers.keep);
    this.#timers.keep = undefined;
    const at = Date.now();
    const isKept = keepDraft(this.#key, {
      title: this.#title.value,
      markdown: this.#area.value,
      base_revision: this.#base?.value ?? '',
      at,
    });
    this.#say(
      isKept
        ? `Kept in this browser at ${timeOf(at)}, not saved yet`
        : 'Not saved, and this browser cannot keep it: save soon',
    );
  }

  #say(words: string): void {
    const state = this.querySelector('.draft-state');
    if (state) state.textContent = words;
  }

  async #show(): Promise<void> {
    this.#asked?.abort();
    this.#asked = new AbortController();
    const body = { markdown: this.#area.value, page_path: this.dataset.path || 'page' };
    try {
      const { html } = await ask<{ html: string }>('POST', `${this.#api}/preview`, body, this.#asked.signal);
      // The API has made it safe, as it does with every page.
      this.#preview.innerHTML = html;
      if (/class="(?:math|language-math)/.test(html)) await drawFormulas(this.#preview);
      if (html.includes('<pre class="mermaid"')) await drawDiagrams(this.#preview);
    } catch (error) {
      if ((error as Error).name === 'AbortError') return;
      this.#preview.textContent = `There is no preview: ${wordsOf(error)}`;
    }
  }

  /** A link of the preview leads from where the page is, and what is written stays. */
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
