import { RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

const FROM_RIGHT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

const ownDirection = Decoration.line({ attributes: { dir: 'auto' } });

function directionsOf({ state, visibleRanges }: EditorView): DecorationSet {
  const made = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = state.doc.lineAt(at);
      if (FROM_RIGHT.test(line.text)) made.add(line.from, line.from, ownDirection);
      at = line.to + 1;
    }
  }
  return made.finish();
}

/**
 * Aligns lines in Arabic, Hebrew and similar scripts to the right, and makes arrow keys follow their reading direction.
 */
export const lineDirections = [
  EditorView.perLineTextDirection.of(true),
  ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = directionsOf(view);
      }
      update({ view, docChanged, viewportChanged }: ViewUpdate) {
        if (docChanged || viewportChanged) this.decorations = directionsOf(view);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  ),
];
