import { type EditorState, type Extension, StateEffect, StateField, type Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

const clicked = StateEffect.define<null>();
const EDITS = ['input', 'delete', 'move', 'undo', 'redo'];

const placed = StateField.define<boolean>({
  create: () => false,
  update: (isPlaced, transaction) => isPlaced || isPlacing(transaction),
});

/** Returns whether a transaction places the caret. Replacing the whole text does not, although it sets a selection. */
function isPlacing(transaction: Transaction): boolean {
  const { selection, docChanged, effects } = transaction;
  const isEdit = EDITS.some((event) => transaction.isUserEvent(event));
  return isEdit || (selection !== undefined && !docChanged) || effects.some((effect) => effect.is(clicked));
}

/** Returns whether the user has placed the caret. Until then the text is rendered without any marks. */
export function isCaretPlaced(state: EditorState): boolean {
  return state.field(placed, false) ?? true;
}

export const caretPlaced: Extension = [
  placed,
  EditorView.domEventHandlers({
    // A click at the caret's position does not change the selection. On touch screens the caret's new position is known
    // only after the click, and drawing the text earlier would move the caret back.
    click(_event, view) {
      requestAnimationFrame(() =>
        setTimeout(() => {
          if (!isCaretPlaced(view.state)) view.dispatch({ effects: clicked.of(null) });
        }),
      );
      return false;
    },
  }),
];
