import type { ChangeSpec } from '@codemirror/state';
import {
  type Alignment,
  alignColumn,
  deleteColumn,
  deleteRow,
  insertColumn,
  insertRow,
  moveColumn,
  moveRow,
  type TableText,
} from './table-text.ts';

/** The table and the operations that the buttons use. */
export interface TableActions {
  readonly table: TableText;
  row: number;
  column: number;
  apply(changes: ChangeSpec | undefined, isRefocused?: boolean): void;
  focus(row: number, column: number): void;
  textOf(from: number, to: number): string;
}

const ALIGNMENTS: Alignment[] = ['left', 'center', 'right'];

/** Creates the buttons of a table. They act on the row and the column of the focused cell. */
export function tableBar(editor: TableActions): HTMLElement {
  const bar = document.createElement('div');
  bar.className = 'table-bar';
  bar.setAttribute('role', 'toolbar');
  bar.setAttribute('aria-label', 'Table');
  const textOf = (from: number, to: number) => editor.textOf(from, to);
  const button = (sign: string, label: string, run: () => void) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = sign;
    made.title = label;
    made.setAttribute('aria-label', label);
    // Keep the focus in the cell.
    made.addEventListener('mousedown', (event) => event.preventDefault());
    made.addEventListener('click', run);
    bar.append(made);
  };
  button('+ row', 'Add a row below', () => {
    editor.apply(insertRow(editor.table, editor.row), false);
    editor.focus(editor.row + 1, editor.column);
  });
  button('+ column', 'Add a column to the right', () => {
    editor.apply(insertColumn(editor.table, editor.column, textOf), false);
    editor.focus(editor.row, editor.column + 1);
  });
  for (const [sign, by, name] of [
    ['↑', -1, 'up'],
    ['↓', 1, 'down'],
  ] as const) {
    button(sign, `Move the row ${name}`, () => {
      const changes = moveRow(editor.table, editor.row, by, textOf);
      if (changes) editor.row += by;
      editor.apply(changes);
    });
  }
  for (const [sign, by, name] of [
    ['←', -1, 'to the left'],
    ['→', 1, 'to the right'],
  ] as const) {
    button(sign, `Move the column ${name}`, () => {
      const changes = moveColumn(editor.table, editor.column, by);
      if (changes) editor.column += by;
      editor.apply(changes);
    });
  }
  button('align', 'Align the column (left, centred, right)', () => {
    const current = ALIGNMENTS.indexOf(editor.table.alignments[editor.column] || 'left');
    const next = ALIGNMENTS[(current + 1) % ALIGNMENTS.length] ?? 'left';
    editor.apply(alignColumn(editor.table, editor.column, next));
  });
  button('− row', 'Delete the row', () => {
    const changes = deleteRow(editor.table, editor.row);
    if (changes) editor.row = Math.min(editor.row, editor.table.rows.length - 2);
    editor.apply(changes);
  });
  button('− column', 'Delete the column', () => {
    const changes = deleteColumn(editor.table, editor.column, textOf);
    if (changes) editor.column = Math.max(0, editor.column - 1);
    editor.apply(changes);
  });
  return bar;
}
