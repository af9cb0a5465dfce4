import { EditorView } from '@codemirror/view';

/**
 * The caret stays clear of the bars, which cover the beginning and the end of the window. No margins of the editor: menus beside the
 * text would be hidden in as many of its lines, since it is the window that scrolls.
 */
export const keepClearOfBars = EditorView.scrollHandler.of((view, range, { y }) => {
  if (y === 'nearest') {
    // Once the editor has scrolled, which it does first.
    view.requestMeasure({
      key: 'bars',
      read: () => view.coordsAtPos(range.head),
      write: (caret) => {
        if (!caret) return;
        const top = heightOf('.top') + heightOf('.tools') + 16;
        const bottom = innerHeight - heightOf('.editor-do') - 24;
        if (caret.top < top) scrollBy(0, caret.top - top);
        else if (caret.bottom > bottom) scrollBy(0, caret.bottom - bottom);
      },
    });
  }
  return false;
});

/** The height of a bar; 0 if there is none. */
export function heightOf(bar: string): number {
  return document.querySelector(bar)?.clientHeight ?? 0;
}
