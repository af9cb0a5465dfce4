import { syntaxTree } from '@codemirror/language';
import { type EditorState, type Extension, type Range, RangeSet, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';
import type { SyntaxNode, Tree } from '@lezer/common';
import { findAgain, treeAfter } from './stale-range.ts';

/** A longer paragraph keeps its lines, because a joined paragraph is drawn as a whole and scanned again at each key. */
const LINES_MAX = 200;
/**
 * Lines that the editor parses as part of a paragraph, but the page does not: containers, definitions, notes, comments,
 * ids of blocks, rows of tables.
 */
const NO_TEXT = /^[ \t>]*(?::|!!!|\?\?\?|\+\+\+|%%|\^|\||\{|\[\^|\[!)/;

class SpaceWidget extends WidgetType {
  override eq(): boolean {
    return true;
  }
  toDOM(): HTMLElement {
    const space = document.createElement('span');
    space.textContent = ' ';
    return space;
  }
  override ignoreEvent(): boolean {
    return false;
  }
}

const SPACE = Decoration.replace({ widget: new SpaceWidget() });

/**
 * Returns the soft breaks of a paragraph: each line break and the spaces and quote marks after it, which the page renders
 * as a space.
 */
function softBreaksOf(state: EditorState, paragraph: SyntaxNode): Range<Decoration>[] {
  const { doc } = state;
  const first = doc.lineAt(paragraph.from);
  const last = doc.lineAt(paragraph.to);
  if (last.number === first.number || last.number - first.number >= LINES_MAX) return [];
  const hard = hardBreaksOf(paragraph);
  const found: Range<Decoration>[] = [];
  for (let line = first; line.number < last.number; ) {
    const next = doc.line(line.number + 1);
    const [before = ''] = /^[ \t>]*/.exec(next.text) ?? [];
    if (!hard.has(line.to) && !NO_TEXT.test(line.text) && !NO_TEXT.test(next.text))
      found.push(SPACE.range(line.to, next.from + before.length));
    line = next;
  }
  return found;
}

/** Returns the positions of line breaks that are also breaks in the page. */
function hardBreaksOf(paragraph: SyntaxNode): Set<number> {
  const breaks = new Set<number>();
  paragraph.cursor().iterate(({ name, to }) => {
    if (name === 'HardBreak') breaks.add(to - 1);
  });
  return breaks;
}

function findSoftBreaks(state: EditorState, tree: Tree, from: number, to: number): Range<Decoration>[] {
  const found: Range<Decoration>[] = [];
  tree.iterate({
    from,
    to,
    enter(node) {
      if (node.name !== 'Paragraph' && node.name !== 'Task') return undefined;
      found.push(...softBreaksOf(state, node.node));
      return false;
    },
  });
  return found;
}

interface Breaks {
  found: DecorationSet;
  tree: Tree;
}

const softBreaks = StateField.define<Breaks>({
  create(state) {
    const tree = syntaxTree(state);
    return { found: RangeSet.of(findSoftBreaks(state, tree, 0, tree.length), true), tree };
  },
  update(value, transaction) {
    const tree = treeAfter(transaction, value.tree);
    const found = findAgain(value.found, transaction, { before: value.tree, tree }, findSoftBreaks);
    return found === value.found && tree === value.tree ? value : { found, tree };
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ found }) => found),
    EditorView.atomicRanges.of((view) => view.state.field(field).found),
  ],
});

/** Joins the lines of a paragraph as in the page, so that they wrap at the edge of the window. */
export const joinedLines: Extension = softBreaks;
