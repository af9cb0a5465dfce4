import { ensureSyntaxTree, foldedRanges, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';

/** A block that moves as a unit: whole lines, without the line break at their end. */
export interface MovableBlock {
  from: number;
  to: number;
  /** An item moves among the items of its list; any other block among the top-level blocks of the page. */
  isItem: boolean;
}

/**
 * Returns the block at a position: the innermost list item, or the top-level block. A folded heading includes the text
 * that it hides.
 */
export function blockAt(state: EditorState, at: number): MovableBlock | undefined {
  const node = nodeAt(state, at);
  return node && blockOf(state, node);
}

/** Returns the block at a position with its siblings in document order, and the block's index among them. */
export function siblingsAt(state: EditorState, at: number): { blocks: MovableBlock[]; index: number } | undefined {
  const node = nodeAt(state, at);
  if (!node?.parent) return undefined;
  const blocks: MovableBlock[] = [];
  let index = -1;
  for (let child = node.parent.firstChild; child; child = child.nextSibling) {
    const isMarkOnly = node.name === 'ListItem' && child.name !== 'ListItem';
    const last = blocks.at(-1);
    const isHidden = last !== undefined && child.from < last.to;
    if (!isMarkOnly && !isHidden) blocks.push(blockOf(state, child));
    if (child.from === node.from) index = blocks.length - 1;
  }
  return index < 0 ? undefined : { blocks, index };
}

/** Maximum time to parse a text before a block is moved, in milliseconds. */
const PARSE_MS = 500;

function nodeAt(state: EditorState, at: number): SyntaxNode | undefined {
  const line = state.doc.lineAt(at);
  const text = line.text.replace(/^[\s>]+/, '');
  if (text === '') return undefined;
  // Of a long text only the beginning may be parsed.
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MS) ?? syntaxTree(state);
  let found: SyntaxNode | undefined;
  for (let node: SyntaxNode | null = tree.resolveInner(line.to - text.length, 1); node; node = node.parent) {
    if (node.name === 'ListItem' && isOnOwnLines(state, node)) return node;
    if (node.parent?.type.isTop) found = node;
  }
  return found;
}

/** Returns whether only spaces and quote marks precede the node in its line. */
function isOnOwnLines({ doc }: EditorState, { from }: SyntaxNode): boolean {
  return /^[\s>]*$/.test(doc.sliceString(doc.lineAt(from).from, from));
}

function blockOf(state: EditorState, node: SyntaxNode): MovableBlock {
  const { doc } = state;
  const from = doc.lineAt(node.from).from;
  let { to } = doc.lineAt(node.to);
  if (/Heading\d$/.test(node.name)) {
    foldedRanges(state).between(node.from, to, (start, end) => {
      if (start >= node.from && start <= to) to = doc.lineAt(end).to;
    });
  }
  // A parser may count the empty line after an item as part of it.
  while (to > from && doc.lineAt(to).text.trim() === '') to = doc.lineAt(to).from - 1;
  return { from, to, isItem: node.name === 'ListItem' };
}
