import { EditorView } from '@codemirror/view';

/**
 * Keeps the caret clear of the bars, which cover the top and the bottom of the window. Scroll margins of the editor
 * would not do: the window scrolls, so margins would hide menus next to the text in as many lines.
 */
export const keepClearOfBars = EditorView.scrollHandler.of((view, range, { y }) => {
  if (y === 'nearest') {
    // Measure after the editor's own scrolling.
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

/** Returns the height of a bar in pixels; 0 if the page does not have it. */
export function heightOf(bar: string): number {
  return document.querySelector(bar)?.clientHeight ?? 0;
}
