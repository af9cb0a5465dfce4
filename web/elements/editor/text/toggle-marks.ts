import { syntaxTree } from '@codemirror/language';
import { type ChangeSpec, EditorSelection, type EditorState, type SelectionRange } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';

/** Marks, each with the node of the syntax tree that it produces. */
const NODES: Record<string, string> = {
  '**': 'StrongEmphasis',
  '*': 'Emphasis',
  '~~': 'Strikethrough',
  '`': 'InlineCode',
  '==': 'Highlight',
};

/** Sets or removes a mark around each selection, or around the word at the cursor if nothing is selected. */
export function toggleMark(view: EditorView, mark: string): boolean {
  const { state } = view;
  view.dispatch(
    state.changeByRange((range) => unmark(state, range, mark) ?? surround(state, range, mark)),
    { userEvent: 'input', scrollIntoView: true },
  );
  return true;
}

/** Returns whether the whole selection is within such a mark. */
export function hasMark(state: EditorState, mark: string): boolean {
  return markedNode(state, state.selection.main, mark) !== undefined;
}

function markedNode(state: EditorState, { from, to }: SelectionRange, mark: string) {
  for (const side of [1, -1] as const) {
    for (let node = syntaxTree(state).resolveInner(from, side); node.parent; node = node.parent) {
      if (node.name === NODES[mark] && node.from <= from && to <= node.to) return node;
    }
  }
  return undefined;
}

function unmark(state: EditorState, range: SelectionRange, mark: string) {
  const node = markedNode(state, range, mark);
  const { from, to } = range;
  const isEmptyPair = from === to && isBetweenMarks(state, from, mark);
  if (!node && !isEmptyPair) return undefined;
  const [open, close] = node?.firstChild && node.lastChild ? [node.firstChild, node.lastChild] : [undefined, undefined];
  const changes: ChangeSpec[] =
    open && close
      ? [
          { from: open.from, to: open.to },
          { from: close.from, to: close.to },
        ]
      : [{ from: from - mark.length, to: to + mark.length }];
  const set = state.changes(changes);
  return { changes, range: EditorSelection.range(set.mapPos(range.anchor, 1), set.mapPos(range.head, 1)) };
}

/**
 * Returns whether exactly this mark is on both sides: the cursor in `****` is between two `**`, not between two `*`.
 */
function isBetweenMarks({ doc }: EditorState, at: number, mark: string): boolean {
  const size = mark.length;
  const around = doc.sliceString(Math.max(0, at - size - 1), at + size + 1);
  return doc.sliceString(Math.max(0, at - size), at + size) === mark + mark && !around.includes(mark + mark + mark[0]);
}

function surround(state: EditorState, range: SelectionRange, mark: string) {
  const word = range.empty ? state.wordAt(range.head) : null;
  let { from, to } = word ?? range;
  // Marks next to spaces have no effect in Markdown.
  const text = state.sliceDoc(from, to);
  if (text.trim() !== '') {
    from += text.length - text.trimStart().length;
    to -= text.length - text.trimEnd().length;
  }
  const changes = [
    { from, insert: mark },
    { from: to, insert: mark },
  ];
  const moved = (at: number) => Math.min(Math.max(at, from), to) + mark.length;
  return { changes, range: EditorSelection.range(moved(range.anchor), moved(range.head)) };
}
