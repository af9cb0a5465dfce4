import { type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** How long after a key or a click the caret begins to blink. */
const REST_MS = 500;

/**
 * A caret that blinks when it rests, as in other programs. CodeMirror begins its animation again with each key, which costs a browser
 * a tenth of the key.
 */
class RestingCaret {
  readonly #scroller: HTMLElement;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: EditorView) {
    this.#scroller = view.scrollDOM;
    this.#wait();
  }

  update({ docChanged, selectionSet, focusChanged }: ViewUpdate): void {
    if (docChanged || selectionSet || focusChanged) this.#wait();
  }

  destroy(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#scroller.classList.remove('caret-rests');
    this.#timer = setTimeout(() => this.#scroller.classList.add('caret-rests'), REST_MS);
  }
}

export const restingCaret = ViewPlugin.fromClass(RestingCaret);
