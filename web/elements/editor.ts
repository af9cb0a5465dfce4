import { autocompletion, closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { ask, Refused } from './ask.ts';
import { dropDraft, keepDraft, markSent, readDraft } from './draft.ts';
import { pageLinks, slashMenu } from './editor-menus.ts';

const PREVIEW_MS = 350;
const KEEP_MS = 400;

/** Headings, emphasis and code as they will look, in the colours of the page. */
const LOOK = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '700', color: 'var(--ink)' },
  { tag: tags.heading1, fontSize: '1.3em' },
  { tag: tags.heading2, fontSize: '1.15em' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: [tags.monospace, tags.string], color: 'var(--code-string)' },
  { tag: [tags.processingInstruction, tags.meta, tags.quote, tags.contentSeparator], color: 'var(--ink-2)' },
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: tags.comment, color: 'var(--code-comment)' },
]);

const THEME = EditorView.theme({
  '&': {
    color: 'var(--ink)',
    backgroundColor: 'var(--paper)',
    border: '1px solid var(--line-strong)',
    borderRadius: '8px',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': {
    fontFamily: 'var(--mono)',
    fontSize: '0.95rem',
    lineHeight: '1.6',
    minHeight: '26rem',
    maxHeight: '72vh',
  },
  '.cm-content': { padding: '0.9rem 0.4rem', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-placeholder': { color: 'var(--ink-2)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--paper)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--sans)', maxHeight: '18rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.3rem 0.7rem', lineHeight: '1.5' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-completionDetail': { color: 'var(--ink-2)', fontStyle: 'normal' },
});

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
    const view = new EditorView({
      doc: this.#area.value,
      root: shadow,
      parent: shadow,
      extensions: [
        history(),
        closeBrackets(),
        markdown({ base: markdownLanguage }),
        syntaxHighlighting(LOOK),
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
          paste: (event) => this.#takeFrom(event.clipboardData, event),
          drop: (event) => this.#takeFrom(event.dataTransfer, event),
        }),
        THEME,
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
    } catch (error) {
      if ((error as Error).name === 'AbortError') return;
      this.#preview.textContent =
        error instanceof Refused
          ? `There is no preview: ${error.message} ${error.request_id}`
          : 'There is no preview just now.';
    }
  }

  /** A link of the preview leads from where the page is, and what is written stays. */
  #openLink(event: MouseEvent): void {
    const href = (event.target as Element).closest('a')?.getAttribute('href');
    if (!href || href.startsWith('#')) return;
    event.preventDefault();
    window.open(new URL(href, `${location.origin}${this.dataset.root}/${this.dataset.path}`), '_blank', 'noopener');
  }

  /** Files become attachments, rich text Markdown. Answers whether it was taken. */
  #takeFrom(data: DataTransfer | null, event: Event): boolean {
    const files = [...(data?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      event.stopPropagation();
      void this.#attach(files);
      return true;
    }
    const rich = event.type === 'paste' ? (data?.getData('text/html') ?? '') : '';
    if (!/<(?:h[1-6]|ul|ol|table|a\s|strong|b>|em|i>|blockquote|pre|img)/i.test(rich)) return false;
    event.preventDefault();
    void this.#insertRich(rich, data?.getData('text/plain') ?? '');
    return true;
  }

  async #insertRich(rich: string, plain: string): Promise<void> {
    try {
      const { richToMarkdown } = (await importOwn('rich-text.js')) as { richToMarkdown(html: string): string };
      this.#insert(richToMarkdown(rich));
    } catch {
      // What was copied is there as plain text too.
      this.#insert(plain);
    }
  }

  #insert(text: string): void {
    const view = this.#view;
    if (!view) return;
    view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true });
    view.focus();
  }

  async #attach(files: readonly File[]): Promise<void> {
    const page = this.dataset.page;
    if (!page) return this.#say('Save the page first: pictures and files belong to a page.');
    for (const file of files) {
      this.#say(`Attaching ${file.name}…`);
      const form = new FormData();
      form.append('files', file, file.name || 'picture.png');
      try {
        const made = await ask<{ attachment_id: string; filename: string; content_type: string }>(
          'POST',
          `${this.#api}/pages/${page}/attachments`,
          form,
        );
        const name = made.filename.replace(/[[\]\\]/g, ' ');
        const mark = made.content_type.startsWith('image/') ? '!' : '';
        this.#insert(`${mark}[${name}](attachment:${made.attachment_id})\n`);
      } catch (error) {
        this.#say(`${file.name} was not attached: ${(error as Error).message}`);
        return;
      }
    }
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

/** A file that stands beside this one, and is loaded only when it is needed. */
function importOwn(name: string): Promise<unknown> {
  const address = new URL(name, import.meta.url).href;
  return import(address);
}

async function drawFormulas(root: HTMLElement): Promise<void> {
  if (!document.querySelector('link[data-math]')) {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = new URL('math.css', import.meta.url).href;
    link.dataset.math = '';
    document.head.append(link);
  }
  const { drawMath } = (await importOwn('math.js')) as { drawMath(root: ParentNode): void };
  drawMath(root);
}

customElements.define('ibid-editor', Editor);
