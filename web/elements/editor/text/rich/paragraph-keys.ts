import { syntaxTree } from '@codemirror/language';
import { type EditorState, type Extension, Prec, type StateCommand } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { moveBlock } from '../moving/move-block.ts';

/** Returns the top-level paragraph or heading at a position; undefined in a list or quote. */
function blockAt(state: EditorState, at: number, side: 1 | -1): SyntaxNode | undefined {
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(at, side);
  while (node?.parent?.parent) node = node.parent;
  return node?.parent && /^(?:Paragraph|ATXHeading\d)$/.test(node.name) ? node : undefined;
}

/** Begins a new paragraph at Enter, because a single line break does not show in the page. */
export const newParagraph: StateCommand = ({ state, dispatch }) => {
  const { main, ranges } = state.selection;
  if (ranges.length > 1 || !(blockAt(state, main.from, -1) ?? blockAt(state, main.from, 1))) return false;
  // Between lines of a paragraph, reuse the line break for the new paragraph.
  const isBreak = (at: number) =>
    state.sliceDoc(at, at + 1) === '\n' && blockAt(state, at, -1)?.from === (blockAt(state, at + 1, 1)?.from ?? -1);
  const from = isBreak(main.from - 1) ? main.from - 1 : main.from;
  const to = isBreak(main.to) ? main.to + 1 : main.to;
  const changes = { from, to, insert: '\n\n' };
  dispatch(state.update({ changes, selection: { anchor: from + 2 }, userEvent: 'input', scrollIntoView: true }));
  return true;
};

/** Inserts a hard break at Shift+Enter, which shows in the page too. */
export const breakLine: StateCommand = ({ state, dispatch }) => {
  const { main, ranges } = state.selection;
  if (ranges.length > 1 || blockAt(state, main.from, -1)?.name !== 'Paragraph') return false;
  dispatch(state.update(state.replaceSelection('\\\n'), { userEvent: 'input', scrollIntoView: true }));
  return true;
};

/** Undoes the paragraph break at Backspace at the beginning of a paragraph. */
export const joinParagraphs: StateCommand = ({ state, dispatch }) => {
  const { main, ranges } = state.selection;
  const line = state.doc.lineAt(main.head);
  if (ranges.length > 1 || !main.empty || main.head !== line.from || line.number < 3) return false;
  const [above, blank] = [state.doc.line(line.number - 2), state.doc.line(line.number - 1)];
  const isText = line.text.trim() === '' || blockAt(state, line.from + line.text.search(/\S/), 1)?.name === 'Paragraph';
  if (blank.length > 0 || !isText || blockAt(state, above.to, -1)?.name !== 'Paragraph') return false;
  dispatch(
    state.update({ changes: { from: above.to, to: line.from }, userEvent: 'delete.backward', scrollIntoView: true }),
  );
  return true;
};

/**
 * Returns whether the caret is in an empty line right below a paragraph, as at the end of most texts. Text typed there
 * would continue the paragraph.
 */
export function isBelowParagraph(state: EditorState): boolean {
  const { main, ranges } = state.selection;
  const line = state.doc.lineAt(main.head);
  if (ranges.length > 1 || !main.empty || line.length > 0 || line.number === 1) return false;
  // A hard break has begun a line of the paragraph.
  if (/(?:\\| {2})$/.test(state.doc.line(line.number - 1).text)) return false;
  return blockAt(state, line.from - 1, -1)?.name === 'Paragraph';
}

function isInParagraph(state: EditorState): boolean {
  return (
    blockAt(state, state.selection.main.head, 1)?.name === 'Paragraph' ||
    blockAt(state, state.selection.main.head, -1)?.name === 'Paragraph'
  );
}

/** Makes keys edit the rendered text instead of its source lines. */
export const paragraphKeys: Extension = Prec.high([
  keymap.of([
    { key: 'Enter', run: newParagraph, shift: breakLine },
    { key: 'Backspace', run: joinParagraphs },
    // A visual line is not a line of the text, so move the paragraph.
    { key: 'Alt-ArrowUp', run: (view) => isInParagraph(view.state) && moveBlock(-1)(view) },
    { key: 'Alt-ArrowDown', run: (view) => isInParagraph(view.state) && moveBlock(1)(view) },
  ]),
  EditorView.inputHandler.of((view, from, to, text) => {
    if (view.composing || from !== to || !isBelowParagraph(view.state)) return false;
    const changes = { from, insert: `\n${text}` };
    const selection = { anchor: from + 1 + text.length };
    view.dispatch({ changes, selection, userEvent: 'input.type', scrollIntoView: true });
    return true;
  }),
  EditorView.domEventHandlers({
    compositionstart(_event, view) {
      if (isBelowParagraph(view.state))
        view.dispatch(view.state.replaceSelection('\n'), { userEvent: 'input.type.compose.start' });
      return false;
    },
  }),
]);
