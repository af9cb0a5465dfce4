import { EditorView } from '@codemirror/view';

/**
 * Handles typing over a selection of several lines, and typing inside replaced text. A browser would join the lines
 * itself. CodeMirror would then misread hidden marks and the symbols of special characters, and change bytes around the
 * selection. Inside replaced text a browser has no place for the caret and would write next to it.
 */
export const typeOverLines = EditorView.domEventHandlers({
  beforeinput({ inputType, data, isComposing }, view) {
    if (inputType !== 'insertText' || data === null || isComposing) return false;
    if (!isOverLines(view) && !isInReplaced(view)) return false;
    const { from, to } = view.state.selection.main;
    const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' });
    // For example the handler that puts brackets around a selection.
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert));
    if (!isHandled) view.dispatch(insert(), { scrollIntoView: true });
    return true;
  },
  // Also within a line: if deleting the selection removes its marks, a browser would write a part of the composed text
  // twice.
  compositionstart(_event, view) {
    if (view.state.selection.ranges.some(({ empty }) => !empty))
      view.dispatch(view.state.replaceSelection(''), { userEvent: 'input.type.compose.start' });
    return false;
  },
});

function isOverLines({ state: { doc, selection } }: EditorView): boolean {
  return selection.ranges.some(({ from, to }) => to > doc.lineAt(from).to);
}

/** Returns whether an end of the selection is inside replaced text, such as a line break within a paragraph. */
function isInReplaced(view: EditorView): boolean {
  const { selection } = view.state;
  let isIn = false;
  for (const ranges of view.state.facet(EditorView.atomicRanges)) {
    for (const { from, to } of selection.ranges) {
      ranges(view).between(from, to, (start, end) => {
        isIn ||= (from > start && from < end) || (to > start && to < end);
        return isIn ? false : undefined;
      });
    }
  }
  return isIn;
}
