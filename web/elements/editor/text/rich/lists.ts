import { Decoration } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { HIDDEN, type Marking } from './marking.ts';
import { LabelWidget, TaskWidget } from './widgets.ts';

const DEEPEST = 8;
const BULLETS = ['•', '◦', '▪'];

/** Marks an item of a list: its bullet, number or box before its text, which is indented by the depth of the list. */
export function listItemMarks({ state, add, addLines, isTouched }: Marking, item: SyntaxNode): void {
  const mark = item.getChild('ListMark');
  if (!mark) return;
  const depth = Math.min(depthOf(item), DEEPEST);
  const line = state.doc.lineAt(mark.from);
  const nested = item.getChild('BulletList') ?? item.getChild('OrderedList');
  addLines(line.from, Math.max(line.to, (nested?.from ?? item.to + 1) - 1), `rich-item rich-item-${depth}`);
  add(Decoration.line({ class: 'rich-item-first' }).range(line.from));
  hideIndent(item, line.to);
  const indent = /^[ \t]*$/.test(state.sliceDoc(line.from, mark.from)) ? line.from : mark.from;
  const task = item.getChild('Task')?.getChild('TaskMarker');
  // Include the space after the mark, because the bullet's own width covers it.
  const end = Math.min(mark.to + 1, line.to);
  if (task && !isTouched(indent, task.to - 1)) {
    const isDone = /x/i.test(state.sliceDoc(task.from, task.to));
    const widget = new TaskWidget(isDone, state.sliceDoc(task.to, line.to).trim());
    add(Decoration.replace({ widget }).range(indent, Math.min(task.to + 1, line.to)));
    if (isDone) add(Decoration.line({ class: 'rich-done' }).range(line.from));
  } else if (!isTouched(indent, mark.to - 1)) {
    const isOrdered = item.parent?.name === 'OrderedList';
    const text = isOrdered ? state.sliceDoc(mark.from, mark.to) : (BULLETS[(depth - 1) % BULLETS.length] as string);
    add(Decoration.replace({ widget: new LabelWidget(text, 'rich-bullet') }).range(indent, end));
  }

  /** Hides the spaces before further lines of the item, because the style of the line indents it. */
  function hideIndent(of: SyntaxNode, from: number): void {
    for (let child = of.firstChild; child; child = child.nextSibling) {
      if (child.name !== 'Paragraph' && child.name !== 'Task') continue;
      for (let at = Math.max(child.from, from); at <= child.to; ) {
        const further = state.doc.lineAt(at);
        const [spaces = ''] = /^[ \t]*/.exec(further.text) ?? [];
        if (further.from > line.from && spaces !== '' && !isTouched(further.from, further.from + spaces.length - 1))
          add(HIDDEN.range(further.from, further.from + spaces.length));
        at = further.to + 1;
      }
    }
  }
}

function depthOf(item: SyntaxNode): number {
  let depth = 0;
  for (let node: SyntaxNode | null = item; node; node = node.parent) if (node.name === 'ListItem') depth += 1;
  return depth;
}
