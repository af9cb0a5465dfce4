import { acceptCompletion, completionStatus } from '@codemirror/autocomplete';
import { type Extension, Prec } from '@codemirror/state';
import { type EditorView, keymap, runScopeHandlers, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** Text that opens a menu: a slash followed by letters, or the beginning of a link to a page. */
const ASKS = /(?:(?:^|\s)\/[\p{L}\p{N}_]+|\[\[[^\]]+)$/u;

/** After this time Enter breaks the line. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Handles Enter pressed before a menu has loaded, so that a user who knows an element's name need not wait for the
 * menu. Enter inserts the named element, or else waits for the menu and takes its first entry. If no menu comes, or
 * before any other key, Enter breaks the line.
 */
class AwaitedMenu {
  readonly #view: EditorView;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isEnter = false;

  constructor(view: EditorView) {
    this.#view = view;
  }

  /** Returns whether Enter is handled: the menu is awaited, or is not needed. */
  begin(insertNamed: (view: EditorView) => boolean): boolean {
    const { state } = this.#view;
    const { head, empty } = state.selection.main;
    if (this.#isEnter || !empty || completionStatus(state) !== 'pending') return false;
    const line = state.doc.lineAt(head);
    if (!ASKS.test(line.text.slice(0, head - line.from))) return false;
    if (insertNamed(this.#view)) return true;
    this.#timer ??= setTimeout(() => this.end(), LONGEST_WAIT_MS);
    return true;
  }

  update({ state, docChanged, selectionSet }: ViewUpdate): void {
    if (this.#timer === undefined) return;
    if (docChanged || selectionSet) this.#stop();
    else if (completionStatus(state) !== 'pending') queueMicrotask(() => this.end());
  }

  end(): void {
    if (this.#timer === undefined) return;
    this.#stop();
    if (acceptCompletion(this.#view)) return;
    this.#isEnter = true;
    try {
      runScopeHandlers(this.#view, new KeyboardEvent('keydown', { key: 'Enter', keyCode: 13 }), 'editor');
    } finally {
      this.#isEnter = false;
    }
  }

  destroy(): void {
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

const plugin = ViewPlugin.fromClass(AwaitedMenu);

/**
 * Must come before `autocompletion`, whose Enter takes an entry only from an open menu. `insertNamed` inserts the
 * element named before the cursor, if such an element exists.
 */
export const awaitedMenu = (insertNamed: (view: EditorView) => boolean): Extension => [
  plugin,
  Prec.highest(
    keymap.of([
      { key: 'Enter', run: (view) => view.plugin(plugin)?.begin(insertNamed) ?? false },
      {
        any(view, { key }) {
          if (key !== 'Enter') view.plugin(plugin)?.end();
          return false;
        },
      },
    ]),
  ),
];
