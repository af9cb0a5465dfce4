import { syntaxTree } from '@codemirror/language';
import { type EditorState, type Extension, Facet, type Range, RangeSet, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import type { SyntaxNodeRef, Tree } from '@lezer/common';
import {
  canReadProperties,
  frontMatterDecoration,
  PropertiesWidget,
  propertiesIn,
} from '../properties/properties-view.ts';
import { isCaretPlaced } from './caret-placed.ts';
import { pictureIn } from './html-picture.ts';
import { findAgain, treeAfter } from './stale-range.ts';
import { TableEditor, TableWidget } from './table-widget.ts';
import { DrawnWidget, PictureWidget } from './widgets.ts';

interface Blocks {
  all: DecorationSet;
  /** All decorations except blocks whose source contains the selection. */
  shown: DecorationSet;
  tree: Tree;
}

/** Nodes without blocks inside. Most nodes are leaves, so skipping them saves most of the traversal. */
const LEAVES = /^(?:Paragraph|(?:ATX|Setext)Heading\d|CodeBlock|HorizontalRule|LinkReference|Task)$/;

/**
 * Replaces the source of tables, formulas and diagrams on lines of their own. They change the heights of distant lines,
 * so CodeMirror requires a state field for them. An update scans only ranges that a change or the parser has reached.
 */
const blocks = StateField.define<Blocks>({
  create: readBlocks,
  update(value, transaction) {
    const tree = treeAfter(transaction, value.tree);
    const { docChanged, selection, startState, state } = transaction;
    if (transaction.effects.some((effect) => effect.is(canReadProperties))) return readBlocks(state);
    const isPlaced = isCaretPlaced(startState) !== isCaretPlaced(state);
    if (!docChanged && tree === value.tree && !selection && !isPlaced) return value;
    const all = findAgain(value.all, transaction, { before: value.tree, tree }, findBlocks);
    const isComposed = transaction.isUserEvent('input.type.compose');
    return { all, shown: withoutSelected(all, transaction.state, isComposed), tree };
  },
  provide: (field) => EditorView.decorations.from(field, ({ shown }) => shown),
});

function readBlocks(state: EditorState): Blocks {
  const tree = syntaxTree(state);
  const all = RangeSet.of(findBlocks(state, tree, 0, tree.length), true);
  return { all, shown: withoutSelected(all, state), tree };
}

function findBlocks(state: EditorState, tree: Tree, from: number, to: number): Range<Decoration>[] {
  const found: Range<Decoration>[] = [];
  tree.iterate({
    from,
    to,
    enter(node) {
      if (LEAVES.test(node.name)) return false;
      if (node.name === 'FrontMatter') {
        const shown = frontMatterDecoration(state, node);
        if (shown) found.push(shown);
        return false;
      }
      const widget = widgetOf(state, node);
      if (!widget) return undefined;
      const start = state.doc.lineAt(node.from).from;
      const end = state.doc.lineAt(node.to).to;
      found.push(Decoration.replace({ widget, block: true }).range(start, end));
      return false;
    },
  });
  return found;
}

/** Longer HTML, in characters, is not treated as a single picture. */
const HTML_MAX = 4_000;

/** Returns the address from which a browser loads a picture. */
export const pictureAddress = Facet.define<(address: string) => string, (address: string) => string>({
  combine: ([resolve]) => resolve ?? ((address) => address),
});

function widgetOf(state: EditorState, node: SyntaxNodeRef) {
  // Blocks in a list or a quote are shown as source, because their lines begin with its marks.
  if (node.node.parent?.parent) return undefined;
  const text = () => state.sliceDoc(state.doc.lineAt(node.from).from, state.doc.lineAt(node.to).to);
  if (node.name === 'Table') return new TableWidget(text());
  if (node.name === 'HTMLBlock') {
    const picture = node.to - node.from <= HTML_MAX ? pictureIn(text()) : undefined;
    return picture && new PictureWidget(state.facet(pictureAddress)(picture.src), picture.alt, picture.caption);
  }
  if (node.name === 'BlockMath') {
    const [, source] = /^\s*\$\$\s*\n([\s\S]*)\n\s*\$\$\s*$/.exec(text()) ?? [];
    return source === undefined || source.trim() === '' ? undefined : new DrawnWidget('math-display', source);
  }
  if (node.name !== 'FencedCode') return undefined;
  const [, source] = /^\s*(?:```+|~~~+)\s*mermaid\s*\n([\s\S]*)\n\s*(?:```+|~~~+)\s*$/.exec(text()) ?? [];
  return source === undefined || source.trim() === '' ? undefined : new DrawnWidget('mermaid', source);
}

/**
 * Hides the blocks whose source is needed. A table stays when the caret enters it, because the caret continues in a
 * cell. A selection with an end at or in a table, such as a search match, needs the source: a browser cannot place the
 * end there and would select something else. A composition of an input method needs the source too, because it would
 * end when the focus moves into a cell.
 */
function withoutSelected(all: DecorationSet, state: EditorState, isComposed = false): DecorationSet {
  if (!isCaretPlaced(state)) return all;
  let shown = all;
  // Filter only the ranges of the selection, not all blocks of a long text.
  for (const { from, to } of state.selection.ranges) {
    shown = shown.update({
      filterFrom: from,
      filterTo: to,
      filter: (start, end, { spec }) =>
        start === end ||
        (keepsCaret(spec.widget) &&
          !isComposed &&
          (from === to || [from, to].every((edge) => edge < start || edge > end))),
    });
  }
  return shown;
}

/** Returns whether the widget takes over the caret and so stays visible. */
function keepsCaret(widget: unknown): boolean {
  return widget instanceof TableWidget || widget instanceof PropertiesWidget;
}

/** Moves a caret that enters a table into a cell, and a caret that enters front matter into a field. */
const enterTables = EditorView.updateListener.of(({ view, state, selectionSet }) => {
  const { main } = state.selection;
  if (!selectionSet || !main.empty || !view.hasFocus) return;
  state.field(blocks).shown.between(main.head, main.head, (from, to, { spec }) => {
    if (spec.widget instanceof PropertiesWidget) queueMicrotask(() => propertiesIn(view)?.focus(main.head >= to));
    if (!(spec.widget instanceof TableWidget)) return undefined;
    queueMicrotask(() => focusTable(view, from, Math.min(to, main.head)));
    return false;
  });
});

/**
 * Moves the focus to the cell at `position` of the table that begins at `from`, if the table is in the DOM. Both are
 * document positions.
 */
export function focusTable(view: EditorView, from: number, position: number): void {
  // A transaction is drawn synchronously. A distant table is not in the DOM until it is scrolled into view.
  for (const place of view.contentDOM.querySelectorAll<HTMLElement>('.rich-table')) {
    if (view.posAtDOM(place) !== from) continue;
    TableEditor.of(place)?.focusAt(position);
    return;
  }
}

export const blockWidgets: Extension = [blocks, enterTables];
