import { type EditorView, WidgetType } from '@codemirror/view';
import { drawDiagrams, drawFormulas } from '../../../lazy-modules.ts';
import { adoptStyle } from './adopt-style.ts';

/** Text in place of a mark: a bullet, a number, the name of a language or of a callout. */
export class LabelWidget extends WidgetType {
  readonly text: string;
  readonly className: string;
  constructor(text: string, className: string) {
    super();
    this.text = text;
    this.className = className;
  }
  override eq(other: LabelWidget): boolean {
    return other.text === this.text && other.className === this.className;
  }
  toDOM(): HTMLElement {
    const label = document.createElement('span');
    label.className = this.className;
    label.textContent = this.text;
    return label;
  }
  override ignoreEvent(): boolean {
    return false;
  }
}

export class RuleWidget extends WidgetType {
  override eq(): boolean {
    return true;
  }
  toDOM(): HTMLElement {
    const rule = document.createElement('span');
    rule.className = 'rich-rule';
    return rule;
  }
  override ignoreEvent(): boolean {
    return false;
  }
}

/** The box of a task. A click changes the one character between its brackets. */
export class TaskWidget extends WidgetType {
  readonly isDone: boolean;
  readonly label: string;
  constructor(isDone: boolean, label: string) {
    super();
    this.isDone = isDone;
    this.label = label;
  }
  override eq(other: TaskWidget): boolean {
    return other.isDone === this.isDone && other.label === this.label;
  }
  toDOM(view: EditorView): HTMLElement {
    const place = document.createElement('span');
    place.className = 'rich-task';
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = this.isDone;
    box.tabIndex = -1;
    box.setAttribute('aria-label', this.label || 'Task');
    box.addEventListener('mousedown', (event) => event.preventDefault());
    box.addEventListener('click', (event) => {
      event.preventDefault();
      toggleTask(view, view.posAtDOM(place));
    });
    place.append(box);
    return place;
  }
  override ignoreEvent(): boolean {
    return true;
  }
}

/** Ticks or unticks the task in the line. Returns false if the line has no task. */
export function toggleTask(view: EditorView, at: number): boolean {
  const line = view.state.doc.lineAt(at);
  const [before, mark] = /^[\s>]*(?:[-*+]|\d+[.)])\s+\[([ xX])\]/.exec(line.text) ?? [];
  if (before === undefined) return false;
  const to = line.from + before.length - 1;
  view.dispatch({ changes: { from: to - 1, to, insert: mark === ' ' ? 'x' : ' ' }, userEvent: 'input' });
  return true;
}

export class PictureWidget extends WidgetType {
  readonly address: string;
  readonly alt: string;
  readonly caption: string;
  constructor(address: string, alt: string, caption = '') {
    super();
    this.address = address;
    this.alt = alt;
    this.caption = caption;
  }
  override eq(other: PictureWidget): boolean {
    return other.address === this.address && other.alt === this.alt && other.caption === this.caption;
  }
  toDOM(view: EditorView): HTMLElement {
    const place = document.createElement('span');
    place.className = 'rich-picture';
    const picture = document.createElement('img');
    picture.alt = this.alt;
    picture.loading = 'lazy';
    picture.addEventListener('load', () => view.requestMeasure());
    picture.addEventListener('error', () => {
      const words = document.createElement('span');
      words.className = 'no-picture';
      words.textContent = this.alt || `Could not load the picture ${this.address}`;
      picture.replaceWith(words);
      view.requestMeasure();
    });
    picture.src = this.address;
    place.append(picture);
    if (this.caption !== '') {
      const caption = document.createElement('span');
      caption.className = 'rich-caption';
      caption.textContent = this.caption;
      place.append(caption);
    }
    return place;
  }
  override ignoreEvent(): boolean {
    return false;
  }
}

/** A formula or a diagram, drawn by the module of rendered pages, which loads at the first widget. */
export class DrawnWidget extends WidgetType {
  readonly kind: 'math-inline' | 'math-display' | 'mermaid';
  readonly text: string;
  constructor(kind: DrawnWidget['kind'], text: string) {
    super();
    this.kind = kind;
    this.text = text;
  }
  override get estimatedHeight(): number {
    return this.kind === 'math-inline' ? -1 : this.kind === 'mermaid' ? 200 : 60;
  }
  override eq(other: DrawnWidget): boolean {
    return other.kind === this.kind && other.text === this.text;
  }
  toDOM(view: EditorView): HTMLElement {
    const isInline = this.kind === 'math-inline';
    const place = document.createElement(isInline ? 'span' : 'div');
    place.className = `rich-drawn prose ${this.kind}-place`;
    const source = document.createElement(this.kind === 'mermaid' ? 'pre' : 'code');
    source.className = this.kind;
    source.textContent = this.text;
    place.append(source);
    // A diagram's sandboxed frame would take the clicks.
    place.addEventListener('mousedown', (event) => {
      if ((event.target as Element).closest('summary')) return;
      event.preventDefault();
      view.dispatch({ selection: { anchor: view.posAtDOM(place) + (isInline ? 1 : 0) } });
      view.focus();
    });
    const draw = this.kind === 'mermaid' ? drawDiagrams : drawFormulas;
    // If the module cannot be loaded, the source stays.
    void draw(place).then(
      () => {
        const link = document.querySelector<HTMLLinkElement>('link[data-math]');
        if (link && view.root instanceof ShadowRoot) void adoptStyle(view.root, link.href);
        view.requestMeasure();
      },
      () => undefined,
    );
    return place;
  }
  override ignoreEvent(): boolean {
    return true;
  }
}
