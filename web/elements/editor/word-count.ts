import type { EditorView } from '@codemirror/view';

/** How long typing pauses before words are counted. */
const PAUSE_MS = 400;
/** Characters that are counted at once; a text of a megabyte takes many turns, between which keys are answered. */
const PORTION = 20_000;
const WORDS_PER_MINUTE = 220;

/** A word; of Chinese and Japanese, which have no spaces, a character. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+(?:['’._-][\p{L}\p{N}\p{M}]+)*/gu;

function countWords(text: string): number {
  return text.match(WORD)?.length ?? 0;
}

/** Says how many words the text has and how long reading it takes; of a selection, how many are in it. */
export class WordCount {
  readonly element = document.createElement('span');
  readonly #view: EditorView;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: EditorView) {
    this.#view = view;
    this.element.className = 'word-count';
    this.changed();
  }

  /** The text or the selection has changed: counts when there is a pause. */
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
        // A turn of its own, so that a key that was pressed meanwhile goes first.
        this.#timer = setTimeout(() => this.#count(at - start, words + more));
        return;
      }
      this.#show(words + more, !main.empty);
    } else this.#show(words, !main.empty);
  }

  #show(words: number, isSelection: boolean): void {
    const count = `${words.toLocaleString('en')} ${words === 1 ? 'word' : 'words'}`;
    const minutes = Math.max(1, Math.round(words / WORDS_PER_MINUTE));
    this.element.textContent = isSelection
      ? `${count} selected`
      : words === 0
        ? ''
        : `${count} · ${minutes} min to read`;
  }
}
