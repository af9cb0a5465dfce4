import { type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** Delay between a key or a click and the start of blinking. */
const REST_MS = 500;

/**
 * Makes the caret blink only while it rests, as in other programs. CodeMirror restarts its animation at each key, which
 * costs a browser a tenth of the time of a key.
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
