import { syntaxTree } from '@codemirror/language';
import type { ChangeDesc, EditorState, Range, Transaction } from '@codemirror/state';
import type { Decoration, DecorationSet } from '@codemirror/view';
import type { Tree } from '@lezer/common';

/** The decorations of whole blocks that touch a range of the text. */
type Find = (state: EditorState, tree: Tree, from: number, to: number) => Range<Decoration>[];

/** Decorations after a transaction: those of the blocks that it changed, and of what was parsed since, are found again. */
export function findAgain(found: DecorationSet, transaction: Transaction, before: Tree, find: Find): DecorationSet {
  const tree = syntaxTree(transaction.state);
  if (!transaction.docChanged && tree === before) return found;
  const stale = staleRange(transaction, before, tree);
  // A tree may be another one that says the same, where the parser has run out of time before.
  if (!stale) return found;
  // Blocks that only touch it are found as well, so all that was drawn of them goes.
  const { from, to } = topBlock(tree, stale.from, stale.to);
  return found.map(transaction.changes).update({
    filterFrom: from,
    filterTo: to,
    filter: () => false,
    add: find(transaction.state, tree, from, to),
    sort: true,
  });
}

/** What must be looked at again: the blocks that a change touches, in both trees, and what was parsed since; undefined: nothing. */
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
 * How far a change reaches whose own blocks end at a position: before the first block that is as it was, such as behind a fence that was
 * opened. The text behind it is the same, so the parser has made the same of it.
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

/** The range of the outermost blocks at a range. */
function topBlock(tree: Tree, from: number, to: number): { from: number; to: number } {
  const outermost = (at: number, side: 1 | -1) => {
    let node = tree.resolve(Math.min(at, tree.length), side);
    while (node.parent?.parent) node = node.parent;
    return node.parent ? node : undefined;
  };
  const [first, last] = [outermost(from, -1), outermost(to, 1)];
  return { from: Math.min(from, first?.from ?? from), to: Math.max(to, last?.to ?? to) };
}
