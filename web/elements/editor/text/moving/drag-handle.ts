import { type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { blockAt, type MovableBlock, siblingsAt } from './movable-block.ts';
import { moveBlockTo } from './move-block.ts';

/** A drop target: the index of the sibling to insert before, and the height in the window at which to draw the line. */
interface Drop {
  target: number;
  y: number;
}

/**
 * The handle next to the block under the pointer, for dragging the block. The keyboard equivalent is Alt+Shift and an
 * arrow key.
 */
class DragHandle {
  readonly #view: EditorView;
  readonly #handle = document.createElement('div');
  readonly #line = document.createElement('div');
  readonly #onMove = (event: PointerEvent) => this.#follow(event);
  #block: MovableBlock | undefined;
  #drop: Drop | undefined;
  #isDragging = false;

  constructor(view: EditorView) {
    this.#view = view;
    this.#handle.className = 'drag-handle';
    this.#handle.title = 'Drag to move (Alt+Shift+↑, ↓)';
    this.#handle.setAttribute('aria-hidden', 'true');
    this.#line.className = 'drop-line';
    this.#handle.hidden = true;
    this.#line.hidden = true;
    view.dom.append(this.#handle, this.#line);
    view.dom.addEventListener('pointermove', this.#onMove);
    // A finger does not hover, so the block that was touched gets the handle.
    view.dom.addEventListener('pointerup', this.#onMove);
    this.#handle.addEventListener('pointerdown', (event) => this.#begin(event));
    this.#handle.addEventListener('pointermove', (event) => this.#drag(event));
    this.#handle.addEventListener('pointerup', () => this.#end(true));
    this.#handle.addEventListener('pointercancel', () => this.#end(false));
  }

  update({ docChanged }: ViewUpdate): void {
    if (!docChanged) return;
    this.#end(false);
    this.#handle.hidden = true;
  }

  destroy(): void {
    this.#view.dom.removeEventListener('pointermove', this.#onMove);
    this.#view.dom.removeEventListener('pointerup', this.#onMove);
    this.#handle.remove();
    this.#line.remove();
  }

  /** Returns the top of a position, relative to the editor's element. */
  #topOf(at: number): number {
    const { documentTop, dom } = this.#view;
    return this.#view.lineBlockAt(at).top + documentTop - dom.getBoundingClientRect().top;
  }

  #positionAt(clientY: number): number {
    const { documentTop, state } = this.#view;
    return Math.min(this.#view.lineBlockAtHeight(clientY - documentTop).from, state.doc.length);
  }

  #follow(event: PointerEvent): void {
    if (this.#isDragging || event.target === this.#handle || event.buttons !== 0) return;
    const block = blockAt(this.#view.state, this.#positionAt(event.clientY));
    if (block?.from === this.#block?.from && block?.to === this.#block?.to && !this.#handle.hidden) return;
    this.#block = block;
    this.#handle.hidden = block === undefined;
    if (block) this.#handle.style.top = `${this.#topOf(block.from)}px`;
  }

  #begin(event: PointerEvent): void {
    if (event.button !== 0 || !this.#block) return;
    event.preventDefault();
    this.#handle.setPointerCapture(event.pointerId);
    this.#isDragging = true;
  }

  #drag(event: PointerEvent): void {
    if (!this.#isDragging || !this.#block) return;
    const drop = this.#dropAt(event.clientY);
    this.#drop = drop;
    this.#line.hidden = drop === undefined;
    if (drop) this.#line.style.top = `${drop.y}px`;
  }

  #dropAt(clientY: number): Drop | undefined {
    const found = this.#block && siblingsAt(this.#view.state, this.#block.from);
    if (!found) return undefined;
    const y = clientY - this.#view.dom.getBoundingClientRect().top;
    const tops = found.blocks.map(({ from }) => this.#topOf(from));
    const last = found.blocks.at(-1);
    if (last) tops.push(this.#topOf(last.to) + this.#view.lineBlockAt(last.to).height);
    let target = 0;
    for (const [i, top] of tops.entries()) if (Math.abs(top - y) < Math.abs((tops[target] ?? 0) - y)) target = i;
    return { target, y: tops[target] ?? 0 };
  }

  #end(isDropped: boolean): void {
    const [block, drop] = [this.#block, this.#drop];
    const wasDragging = this.#isDragging;
    this.#isDragging = false;
    this.#drop = undefined;
    this.#line.hidden = true;
    if (wasDragging && isDropped && block && drop) moveBlockTo(this.#view, block.from, drop.target);
  }
}

export const dragHandle = ViewPlugin.fromClass(DragHandle);
