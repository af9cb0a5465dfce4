import type { EditorView } from '@codemirror/view';

/** How long typing must pause before words are counted. */
const PAUSE_MS = 400;
/** Characters counted per task. A text of a megabyte takes many tasks, and the browser handles keys between them. */
const PORTION = 20_000;
const WORDS_PER_MINUTE = 220;

/** A word, or a single character of Chinese and Japanese, which have no spaces. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+(?:['’._-][\p{L}\p{N}\p{M}]+)*/gu;

function countWords(text: string): number {
  return text.match(WORD)?.length ?? 0;
}

/** Shows how many words the text has and how long reading it takes, or how many words are selected. */
export class WordCount {
  readonly element = document.createElement('span');
  readonly #view: EditorView;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: EditorView) {
    this.#view = view;
    this.element.className = 'word-count';
    this.changed();
  }

  /** Schedules a count for the next pause, after a change of the text or the selection. */
  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#count(0, 0), PAUSE_MS);
  }

  #count(from: number, words: number): void {
    const { doc, selection } = this.#view.state;
    const { main } = selection;
    const [start, end] = main.empty ? [0, doc.length] : [main.from, main.to];
    let at = start + from;
    if (at < end) {
      const to = at + PORTION >= end ? end : Math.min(end, doc.lineAt(at + PORTION).to);
      const more = countWords(doc.sliceString(at, to));
      at = to;
      if (at < end) {
        // Continue in a separate task, so that keys pressed so far go first.
        this.#timer = setTimeout(() => this.#count(at - start, words + more));
        return;
      }
      this.#show(words + more, !main.empty);
    } else this.#show(words, !main.empty);
  }

  #show(words: number, isSelection: boolean): void {
    const count = `${words.toLocaleString('en')} ${words === 1 ? 'word' : 'words'}`;
    const minutes = Math.max(1, Math.round(words / WORDS_PER_MINUTE));
    this.element.textContent = isSelection ? `${count} selected` : words === 0 ? '' : `${count} · ${minutes} min read`;
  }
}
