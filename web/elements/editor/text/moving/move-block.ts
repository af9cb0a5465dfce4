import { EditorSelection, type EditorState, type Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { type MovableBlock, siblingsAt } from './movable-block.ts';

/** Moves the block at the cursor above its previous sibling or below its next one. */
export function moveBlock(by: 1 | -1) {
  return (view: EditorView): boolean => {
    const found = siblingsAt(view.state, view.state.selection.main.head);
    const other = found?.blocks[found.index + by];
    const block = found?.blocks[found.index];
    if (!block || !other) return found !== undefined;
    exchange(view, by === 1 ? [block, other] : [other, block], by === 1 ? 0 : 1);
    return true;
  };
}

/**
 * Moves the block at a position before the sibling with index `target`, or to the end if `target` is the number of
 * siblings.
 */
export function moveBlockTo(view: EditorView, at: number, target: number): void {
  const found = siblingsAt(view.state, at);
  const block = found?.blocks[found.index];
  if (!found || !block || target === found.index || target === found.index + 1) return;
  const { blocks, index } = found;
  const isDown = target > index;
  const others = isDown ? blocks.slice(index + 1, target) : blocks.slice(target, index);
  const [first, last] = [others[0], others.at(-1)];
  if (!first || !last) return;
  const passed = { from: first.from, to: last.to, isItem: block.isItem };
  exchange(view, isDown ? [block, passed] : [passed, block], isDown ? 0 : 1);
}

/** Exchanges two neighbours. The selection moves with the moved block. */
function exchange(view: EditorView, [upper, lower]: [MovableBlock, MovableBlock], moved: 0 | 1): void {
  const { state } = view;
  const { doc } = state;
  const [first, second] = withNumbers(state, upper, lower);
  const gap = doc.sliceString(upper.to, lower.from);
  const between = upper.isItem ? gap : gapBetween(gap, second, first);
  const lead = upper.isItem ? '' : missingBreak(lineBefore(doc, upper.from), second);
  const trail = upper.isItem ? '' : missingBreak(first, lineAfter(doc, lower.to));
  const insert = lead + second + between + first + trail;
  const movedTo = upper.from + lead.length + (moved === 0 ? second.length + between.length : 0);
  const { main } = state.selection;
  const block = moved === 0 ? upper : lower;
  const shifted = (at: number) => movedTo + Math.max(0, Math.min(at, block.to) - block.from);
  view.dispatch({
    changes: { from: upper.from, to: lower.to, insert },
    selection: EditorSelection.single(shifted(main.anchor), shifted(main.head)),
    userEvent: 'move.line',
    scrollIntoView: true,
  });
}

/** Returns the texts of two blocks. Numbered items exchange their numbers, so that the list stays in order. */
function withNumbers({ doc }: EditorState, upper: MovableBlock, lower: MovableBlock): [string, string] {
  const texts: [string, string] = [doc.sliceString(upper.from, upper.to), doc.sliceString(lower.from, lower.to)];
  const [one, other] = texts.map((text) => /^[\s>]*(\d+)[.)]/.exec(text));
  // A longer number would change the indentation that the lines below it need.
  if (!upper.isItem || !one?.[1] || !other?.[1] || one[1].length !== other[1].length) return texts;
  const numbered = (text: string, was: RegExpExecArray, number: string) =>
    was[0].replace(/\d+/, number) + text.slice(was[0].length);
  return [numbered(texts[0], one, other[1]), numbered(texts[1], other, one[1])];
}

const isHeading = (text: string) => /^ {0,3}#{1,6}(?:\s|$)/.test(text);

function gapBetween(gap: string, above: string, below: string): string {
  return /\n[ \t]*\n/.test(gap) ? gap : gap + missingBreak(above, below);
}

/**
 * Returns the line break needed between two consecutive blocks: without an empty line, a paragraph would continue into
 * the next block.
 */
function missingBreak(above: string, below: string): string {
  if (above.trim() === '' || below.trim() === '' || isHeading(below)) return '';
  return isHeading(above) && !above.includes('\n') ? '' : '\n';
}

function lineBefore(doc: Text, at: number): string {
  return at === 0 ? '' : doc.lineAt(at - 1).text;
}

function lineAfter(doc: Text, at: number): string {
  return at >= doc.length ? '' : doc.lineAt(at + 1).text;
}
