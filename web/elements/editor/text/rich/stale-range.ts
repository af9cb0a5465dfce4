import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { ChangeDesc, EditorState, Range, Transaction } from '@codemirror/state';
import type { Decoration, DecorationSet } from '@codemirror/view';
import type { Tree } from '@lezer/common';

/** Returns the decorations of whole blocks that touch a range of the text. */
type Find = (state: EditorState, tree: Tree, from: number, to: number) => Range<Decoration>[];

/** Maximum time to parse the blocks of an edit, in milliseconds. */
const PARSE_MS = 500;

/**
 * Returns the tree after a transaction, which includes the blocks that the user edited. CodeMirror alone stops parsing
 * after 20 ms, which a slow machine needs for the first block. A table that is not parsed would lose its widget, and the
 * keys typed into its cells.
 */
export function treeAfter(transaction: Transaction, before: Tree): Tree {
  const { changes, docChanged, state } = transaction;
  if (!docChanged || !EDITS.some((event) => transaction.isUserEvent(event))) return syntaxTree(state);
  let end = 0;
  changes.iterChangedRanges((_fromA, toA, _fromB, toB) => {
    end = Math.max(end, toB, changes.mapPos(Math.min(topBlock(before, toA, toA).to, changes.length), 1));
  });
  return ensureSyntaxTree(state, end, PARSE_MS) ?? syntaxTree(state);
}

/** Events that come from the keys of a cell. A pasted text may be long, and no cell waits for it. */
const EDITS = ['input.type', 'delete', 'undo', 'redo'];

/**
 * Updates decorations after a transaction: finds them again in the blocks that it changed and in newly parsed text.
 * `tree`: from `treeAfter`.
 */
export function findAgain(
  found: DecorationSet,
  transaction: Transaction,
  { before, tree }: { before: Tree; tree: Tree },
  find: Find,
): DecorationSet {
  if (!transaction.docChanged && tree === before) return found;
  const stale = staleRange(transaction, before, tree);
  // A new tree can have the same content, if the parser ran out of time before.
  if (!stale) return found;
  // Blocks that only touch the range are found again as well, so remove all their decorations.
  const { from, to } = topBlock(tree, stale.from, stale.to);
  return found.map(transaction.changes).update({
    filterFrom: from,
    filterTo: to,
    filter: () => false,
    add: find(transaction.state, tree, from, to),
    sort: true,
  });
}

/**
 * Returns the range to scan again: the blocks that a change touches, in both trees, and newly parsed text. Returns
 * undefined if nothing is stale.
 */
function staleRange({ changes, docChanged, state }: Transaction, before: Tree, tree: Tree) {
  let from = state.doc.length;
  let to = 0;
  const include = (start: number, end: number) => {
    from = Math.min(from, start);
    to = Math.max(to, end);
  };
  if (docChanged) {
    changes.iterChangedRanges((fromA, toA, fromB, toB) => {
      const old = topBlock(before, fromA, toA);
      include(changes.mapPos(old.from, -1), changes.mapPos(old.to, 1));
      const now = topBlock(tree, fromB, toB);
      include(now.from, reachOf(tree, now.to, before, changes.invertedDesc));
    });
  }
  const parsed = docChanged ? changes.mapPos(Math.min(before.length, changes.length), 1) : before.length;
  if (tree.length > parsed) include(topBlock(tree, parsed, parsed).from, tree.length);
  return from > to ? undefined : { from, to };
}

/**
 * Returns the end of a change whose own blocks end at `end`: the start of the first block that both trees share. An
 * opened fence, for example, changes the blocks after it too. From the first shared block on, the text and its parse
 * are the same.
 */
function reachOf(tree: Tree, end: number, before: Tree, toBefore: ChangeDesc): number {
  let reach = end;
  for (let node = tree.topNode.childAfter(end); node; node = node.nextSibling) {
    const from = toBefore.mapPos(node.from, 1);
    const old = before.topNode.childAfter(from);
    if (old?.from === from && old.name === node.name && old.to - old.from === node.to - node.from) return reach;
    reach = node.to;
  }
  return tree.length;
}

/** Widens a range to the whole outermost blocks that its ends touch. */
function topBlock(tree: Tree, from: number, to: number): { from: number; to: number } {
  const outermost = (at: number, side: 1 | -1) => {
    let node = tree.resolve(Math.min(at, tree.length), side);
    while (node.parent?.parent) node = node.parent;
    return node.parent ? node : undefined;
  };
  const [first, last] = [outermost(from, -1), outermost(to, 1)];
  return { from: Math.min(from, first?.from ?? from), to: Math.max(to, last?.to ?? to) };
}
