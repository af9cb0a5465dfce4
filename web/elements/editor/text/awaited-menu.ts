import { acceptCompletion, completionStatus } from '@codemirror/autocomplete';
import { type Extension, Prec } from '@codemirror/state';
import { type EditorView, keymap, runScopeHandlers, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** What asks for a menu: a slash with letters behind it, or the beginning of a link to a page. */
const ASKS = /(?:(?:^|\s)\/[\p{L}\p{N}_]+|\[\[[^\]]+)$/u;

/** Then Enter is Enter. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Enter that is pressed before a menu has come does what it would do with the menu, so that who knows the name of an element
 * needs not look: it takes the element that is named, or else waits for the menu and takes its first entry. Where no menu
 * comes, and before any other key, it is Enter.
 */
class AwaitedMenu {
  readonly #view: EditorView;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isEnter = false;

  constructor(view: EditorView) {
    this.#view = view;
  }

  /** Whether Enter is dealt with: the menu is waited for, or needs not come. */
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
 * Comes before `autocompletion`, whose Enter takes an entry only of a menu that is there. `insertNamed` inserts the element
 * that is named before the cursor, if there is one.
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
