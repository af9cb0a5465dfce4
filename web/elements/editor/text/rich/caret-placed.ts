import { type EditorState, type Extension, StateEffect, StateField, type Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

const clicked = StateEffect.define<null>();
const EDITS = ['input', 'delete', 'move', 'undo', 'redo'];

const placed = StateField.define<boolean>({
  create: () => false,
  update: (isPlaced, transaction) => isPlaced || isPlacing(transaction),
});

/** A text that is put in place of another comes with a caret of its own. */
function isPlacing(transaction: Transaction): boolean {
  const { selection, docChanged, effects } = transaction;
  const isEdit = EDITS.some((event) => transaction.isUserEvent(event));
  return isEdit || (selection !== undefined && !docChanged) || effects.some((effect) => effect.is(clicked));
}

/** Whether the caret is where the writer has put it. Until then it waits in a text that is shown as it is read, without any marks. */
export function isCaretPlaced(state: EditorState): boolean {
  return state.field(placed, false) ?? true;
}

export const caretPlaced: Extension = [
  placed,
  EditorView.domEventHandlers({
    // A click where the caret is already selects nothing. Where a finger has put it is known only afterwards, and to draw the
    // text before that would put it back.
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
