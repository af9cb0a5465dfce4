import { type ChangeSpec, EditorSelection } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { focusTable } from './rich/blocks.ts';

/** The prefix that makes a line a heading, an item, a task or a quote. */
const PREFIX = /^(\s*)(#{1,6}\s+|[-*+]\s+\[[ xX]\]\s+|[-*+]\s+|\d+[.)]\s+|>\s?)?/;

/** Replaces the prefix of each selected line; removes it if all lines have it. */
export function togglePrefix(view: EditorView, prefix: string): boolean {
  const { state } = view;
  const { from, to } = state.selection.main;
  const lines = [];
  for (let at = from; at <= to; ) {
    const line = state.doc.lineAt(at);
    if (line.text.trim() !== '' || from === to) lines.push(line);
    at = line.to + 1;
  }
  const writtenPrefix = (i: number) => (prefix === '1. ' ? `${i + 1}. ` : prefix);
  const isSet = lines.every(({ text }, i) => PREFIX.exec(text)?.[2] === writtenPrefix(i));
  const changes: ChangeSpec[] = lines.map((line, i) => {
    const [, indent = '', existing = ''] = PREFIX.exec(line.text) ?? [];
    const start = line.from + indent.length;
    return { from: start, to: start + existing.length, insert: isSet ? '' : writtenPrefix(i) };
  });
  const set = state.changes(changes);
  const selection = EditorSelection.range(
    set.mapPos(state.selection.main.anchor, 1),
    set.mapPos(state.selection.main.head, 1),
  );
  view.dispatch({ changes: set, selection, userEvent: 'input', scrollIntoView: true });
  return true;
}

/**
 * Inserts a block on its own lines: after the line of the cursor, or replacing the text from `from` to the cursor. The
 * cursor moves to U+0000 in the template.
 */
export function insertBlock(view: EditorView, template: string, from = view.state.selection.main.head): void {
  const { state } = view;
  const { head } = state.selection.main;
  const line = state.doc.lineAt(head);
  const before = state.sliceDoc(line.from, from);
  const after = state.sliceDoc(head, line.to);
  const isFirst = before.trim() === '';
  // An empty line separates a block from a paragraph.
  const previous = line.number > 1 ? state.doc.line(line.number - 1).text : '';
  const lead = !isFirst ? '\n\n' : previous.trim() !== '' ? '\n' : '';
  const end = after.trim() !== '' || line.to < state.doc.length ? '\n' : '';
  const at = template.indexOf('\0');
  const text = template.replace('\0', '');
  const start = (isFirst ? line.from : from) + lead.length;
  view.dispatch({
    changes: {
      from: isFirst ? line.from : from,
      to: head,
      insert: lead + text + (after.trim() === '' ? '' : `${end}\n`),
    },
    selection: { anchor: start + (at < 0 ? text.length : at) },
    userEvent: 'input',
    scrollIntoView: true,
  });
  view.focus();
  if (text.startsWith('|')) focusTable(view, start, start + 2);
}

export const TABLE = '|  |  |\n| --- | --- |\n|  |  |\n';

/** Links the selected words, or the word at the cursor, and moves the cursor to the address. */
export function insertLink(view: EditorView, address = ''): boolean {
  const { state } = view;
  const { main } = state.selection;
  const { from, to } = (main.empty && state.wordAt(main.head)) || main;
  const text = state.sliceDoc(from, to);
  const insert = `[${text}](${address})`;
  const caret = text === '' ? from + 1 : from + text.length + 3 + address.length;
  view.dispatch({ changes: { from, to, insert }, selection: { anchor: caret }, userEvent: 'input' });
  view.focus();
  return true;
}
