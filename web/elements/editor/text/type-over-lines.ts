import { EditorView } from '@codemirror/view';

/**
 * Typing over a selection of several lines, and where something stands in place of the text. A browser would join the lines itself, and
 * what is not text in them, such as hidden marks and the signs of special characters, would be read back wrongly: bytes around the
 * selection would change. Within what is not shown as it is written it has no place for a caret, and would write beside it.
 */
export const typeOverLines = EditorView.domEventHandlers({
  beforeinput({ inputType, data, isComposing }, view) {
    if (inputType !== 'insertText' || data === null || isComposing) return false;
    if (!isOverLines(view) && !isInReplaced(view)) return false;
    const { from, to } = view.state.selection.main;
    const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' });
    // Such as what puts brackets around a selection.
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert));
    if (!isHandled) view.dispatch(insert(), { scrollIntoView: true });
    return true;
  },
  // Within a line too: where the marks in it are gone with it, a browser would write a part of what is composed twice.
  compositionstart(_event, view) {
    if (view.state.selection.ranges.some(({ empty }) => !empty))
      view.dispatch(view.state.replaceSelection(''), { userEvent: 'input.type.compose.start' });
    return false;
  },
});

function isOverLines({ state: { doc, selection } }: EditorView): boolean {
  return selection.ranges.some(({ from, to }) => to > doc.lineAt(from).to);
}

/** Whether an end of the selection is within what something else is shown for, such as a line break within a paragraph. */
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
