import { redo, undo } from '@codemirror/commands';
import type { ChangeSpec } from '@codemirror/state';
import { type EditorView, runScopeHandlers, WidgetType } from '@codemirror/view';
import { inlineDom } from './inline-dom.ts';
import { tableBar } from './table-bar.ts';
import { cellText, insertRow, readTable, setCell, type TableText } from './table-text.ts';

/** A rendered table. Each cell is edited in place as Markdown, and every edit changes the document. */
export class TableWidget extends WidgetType {
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
  /** An estimate close to the real height, so that drawing the table does not move the text below it. */
  override get estimatedHeight(): number {
    return 38 * Math.max(1, this.text.split('\n').length - 1);
  }
  override eq(other: TableWidget): boolean {
    return other.text === this.text;
  }
  toDOM(view: EditorView): HTMLElement {
    const place = document.createElement('div');
    place.className = 'rich-table prose';
    new TableEditor(view, place, this.text);
    return place;
  }
  /** Keeps the DOM of the edited cell, and with it the caret and a composition. */
  override updateDOM(place: HTMLElement): boolean {
    const editor = TableEditor.of(place);
    editor?.show(this.text);
    return editor !== undefined;
  }
  override ignoreEvent(): boolean {
    return true;
  }
}

export class TableEditor {
  static readonly #editors = new WeakMap<HTMLElement, TableEditor>();
  static of(place: HTMLElement): TableEditor | undefined {
    return TableEditor.#editors.get(place);
  }

  readonly view: EditorView;
  readonly #place: HTMLElement;
  readonly #grid = document.createElement('table');
  #text: string;
  /** The cell that has, or last had, the focus. */
  row = 0;
  column = 0;
  /** Set until the caret has been moved to the end of the cell. */
  #caret: ReturnType<typeof setTimeout> | undefined;

  constructor(view: EditorView, place: HTMLElement, text: string) {
    this.view = view;
    this.#place = place;
    this.#text = text;
    TableEditor.#editors.set(place, this);
    place.append(this.#grid, tableBar(this));
    this.show(text);
    this.#grid.addEventListener('focusin', (event) => this.#enter(event.target as HTMLElement));
    this.#grid.addEventListener('focusout', (event) => this.#leave(event.target as HTMLElement));
    this.#grid.addEventListener('input', (event) => this.#write(event.target as HTMLElement));
    place.addEventListener('keydown', (event) => this.#onKey(event));
    this.#grid.addEventListener('mousedown', (event) => event.stopPropagation());
  }

  get #start(): number {
    return this.view.posAtDOM(this.#place);
  }
  get table(): TableText {
    return readTable(this.#text, this.#start);
  }
  get #focused(): HTMLElement | undefined {
    const active = (this.view.root as ShadowRoot).activeElement;
    return active instanceof HTMLTableCellElement && this.#grid.contains(active) ? active : undefined;
  }

  /** Shows the text of the table. Leaves the edited cell and cells with the same text untouched. */
  show(text: string): void {
    this.#text = text;
    const { rows, alignments } = readTable(text, 0);
    const width = rows[0]?.length ?? 0;
    while (this.#grid.rows.length > rows.length) this.#grid.deleteRow(-1);
    for (const [r, cells] of rows.entries()) {
      const line = this.#grid.rows[r] ?? this.#grid.insertRow();
      while (line.cells.length > width) line.deleteCell(-1);
      for (let c = 0; c < width; c += 1) {
        const cell = line.cells[c] ?? line.appendChild(newCell(r));
        cell.className = alignments[c] ? `align-${alignments[c]}` : '';
        this.#showCell(cell as HTMLElement, cells[c]?.text ?? '');
      }
    }
  }

  #showCell(cell: HTMLElement, text: string): void {
    const isFocused = cell === this.#focused;
    if (isFocused) {
      if (cellText(cell.textContent ?? '', text).trim() !== text) cell.textContent = text;
    } else if (cell.dataset.text !== text || cell.dataset.raw !== undefined) {
      cell.replaceChildren(inlineDom(text.replaceAll('\\|', '|')));
      delete cell.dataset.raw;
    }
    cell.dataset.text = text;
  }

  focus(row: number, column: number): void {
    const line = this.#grid.rows[Math.max(0, Math.min(row, this.#grid.rows.length - 1))];
    const cell = line?.cells[Math.max(0, Math.min(column, line.cells.length - 1))];
    cell?.focus();
    if (cell) caretToEnd(cell);
  }

  /** Focuses the cell at a position of the document. */
  focusAt(position: number): void {
    const { lines } = this.table;
    const found = lines.findIndex(({ to }) => position <= to);
    const row = found < 0 ? lines.length - 2 : Math.max(0, found - (found > 0 ? 1 : 0));
    const cells = lines[found]?.cells ?? [];
    const column = cells.findIndex(({ to }) => position <= to);
    this.focus(row, column < 0 ? cells.length - 1 : column);
  }

  #enter(cell: HTMLElement): void {
    if (!(cell instanceof HTMLTableCellElement)) return;
    this.row = (cell.parentElement as HTMLTableRowElement).rowIndex;
    this.column = cell.cellIndex;
    const text = (cell.dataset.text ?? '').replaceAll('\\|', '|').replaceAll(/<br\s*\/?>/gi, '\n');
    cell.dataset.raw = '';
    if (cell.childNodes.length <= 1 && cell.textContent === text) return;
    cell.textContent = text;
    // The node under the pointer was replaced, and its caret with it. Run after the browser has set the caret.
    this.#caret = setTimeout(() => this.#placeCaret());
  }

  /** Places the caret, also before an earlier key, which would otherwise be lost or written elsewhere. */
  #placeCaret(): void {
    if (this.#caret === undefined) return;
    clearTimeout(this.#caret);
    this.#caret = undefined;
    if (this.#focused) caretToEnd(this.#focused);
  }

  #leave(cell: HTMLElement): void {
    const { text } = cell.dataset;
    if (text === undefined) return;
    cell.replaceChildren(inlineDom(text.replaceAll('\\|', '|')));
    delete cell.dataset.raw;
  }

  #write(cell: HTMLElement): void {
    const text = cellText(cell.innerText, cell.dataset.text).trim();
    if (text === cell.dataset.text) return;
    this.apply(setCell(this.table, this.row, this.column, text), false);
  }

  /** Changes the document and keeps the focus in the cell. */
  apply(changes: ChangeSpec | undefined, isRefocused = true): void {
    if (!changes) return;
    this.view.dispatch({ changes, userEvent: 'input.type' });
    if (isRefocused) this.focus(this.row, this.column);
  }

  textOf(from: number, to: number): string {
    return this.view.state.sliceDoc(from, to);
  }

  /** Moves the caret to the text below the table, or above it. */
  exit(side: 1 | -1): void {
    const { state } = this.view;
    const { lines } = this.table;
    const edge = side === 1 ? (lines.at(-1)?.to ?? 0) : (lines[0]?.from ?? 0);
    // Leave an empty line below the table: text typed right below it would become a row.
    const missing =
      side === 1 ? Math.max(0, 2 - (/^\n*/.exec(state.sliceDoc(edge, edge + 2))?.[0].length ?? 0)) : edge === 0 ? 1 : 0;
    this.view.dispatch({
      changes: { from: side === 1 ? edge : 0, insert: '\n'.repeat(missing) },
      selection: { anchor: side === 1 ? edge + 2 : Math.max(0, edge - 1) },
      scrollIntoView: true,
    });
    this.view.focus();
  }

  #onKey(event: KeyboardEvent): void {
    this.#placeCaret();
    if (event.isComposing || !this.#focused) return;
    const handled = this.#runKey(event);
    if (handled) event.preventDefault();
    // Hide the editor's keys from a cell, except keys for the whole page.
    if (handled || !(event.ctrlKey || event.metaKey) || /^[abcvxi]$/i.test(event.key)) event.stopPropagation();
  }

  #runKey(event: KeyboardEvent): boolean {
    const { key, shiftKey, ctrlKey, metaKey } = event;
    const rows = this.#grid.rows.length;
    const columns = this.#grid.rows[0]?.cells.length ?? 1;
    const isMod = ctrlKey || metaKey;
    if (isMod && /^[zy]$/i.test(key)) return this.#undo(key.toLowerCase() === 'y' || shiftKey);
    // Keys for saving, showing the source, searching, and the list of keys.
    if (isMod && /^[sef/]$/i.test(key)) {
      const isRun = runScopeHandlers(this.view, event, 'editor');
      if (!this.#place.isConnected) this.view.focus();
      return isRun;
    }
    if (isMod) {
      if (key !== 'Enter') return false;
      this.apply(insertRow(this.table, this.row), false);
      this.focus(this.row + 1, 0);
      return true;
    }
    if (key === 'Escape') this.exit(1);
    else if (key === 'Tab') this.#step(shiftKey ? -1 : 1, rows, columns);
    else if (key === 'Enter' && !shiftKey) {
      if (this.row === rows - 1) this.apply(insertRow(this.table, this.row), false);
      this.focus(this.row + 1, this.column);
    } else if (key === 'ArrowDown') this.row === rows - 1 ? this.exit(1) : this.focus(this.row + 1, this.column);
    else if (key === 'ArrowUp') this.row === 0 ? this.exit(-1) : this.focus(this.row - 1, this.column);
    else return false;
    return true;
  }

  /** Undoing may remove the cell: keep the focus in the table, or else in the text. */
  #undo(isRedo: boolean): boolean {
    (isRedo ? redo : undo)(this.view);
    if (!this.#focused && this.#place.isConnected) this.focus(this.row, this.column);
    else if (!this.#focused) this.view.focus();
    return true;
  }

  #step(by: 1 | -1, rows: number, columns: number): void {
    const next = this.row * columns + this.column + by;
    if (next < 0) return this.exit(-1);
    if (next >= rows * columns) this.apply(insertRow(this.table, this.row), false);
    this.focus(Math.floor(next / columns), next % columns);
  }
}

function caretToEnd(cell: HTMLElement): void {
  const { length } = cell.childNodes;
  getSelection()?.setBaseAndExtent(cell, length, cell, length);
}

function newCell(row: number): HTMLElement {
  const cell = document.createElement(row === 0 ? 'th' : 'td');
  cell.contentEditable = 'plaintext-only';
  cell.spellcheck = true;
  cell.setAttribute('dir', 'auto');
  return cell;
}
