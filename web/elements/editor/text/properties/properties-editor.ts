import { redo, undo } from '@codemirror/commands';
import { type EditorView, runScopeHandlers } from '@codemirror/view';
import { firstPlace } from '../first-place.ts';
import type { TextChange } from './change-properties.ts';
import { type PropertiesModule, propertiesModule } from './load-properties.ts';
import { makeControl, type PropertyControl } from './property-control.ts';
import type { Property } from './read-properties.ts';

/** Common fields, proposed for a new property. */
const PROPOSED = ['tags', 'aliases', 'author', 'date', 'description', 'lang', 'title'];

/** The rows of front matter. Each edit changes the document and only the bytes of its value. */
export class PropertiesEditor {
  static readonly #editors = new WeakMap<HTMLElement, PropertiesEditor>();
  static of(place: HTMLElement): PropertiesEditor | undefined {
    return PropertiesEditor.#editors.get(place);
  }

  readonly #view: EditorView;
  readonly #place: HTMLElement;
  readonly #rows = document.createElement('div');
  readonly #controls = new Map<string, PropertyControl & { row: HTMLElement }>();
  readonly #add = document.createElement('button');
  readonly #name = document.createElement('input');
  #text = '';

  constructor(view: EditorView, place: HTMLElement) {
    this.#view = view;
    this.#place = place;
    PropertiesEditor.#editors.set(place, this);
    place.setAttribute('role', 'group');
    place.ariaLabel = 'Properties';
    place.append(this.#rows, this.#add, this.#name, proposedNames());
    this.#makeAdding();
    place.addEventListener('keydown', (event) => this.#onKey(event));
    place.addEventListener('mousedown', (event) => event.stopPropagation());
  }

  get #module(): PropertiesModule {
    return propertiesModule() as PropertiesModule;
  }

  /** Shows these fields. An existing row, with the text being typed in it, is reused. */
  show(text: string, properties: readonly Property[]): void {
    this.#text = text;
    const seen = new Set<string>();
    for (const [i, property] of properties.entries()) {
      const key = `${property.name}\n${property.kind === 'date' ? 'text' : property.kind}`;
      seen.add(key);
      const control = this.#controls.get(key) ?? this.#makeRow(key, property);
      control.show(property);
      if (this.#rows.children[i] !== control.row) this.#rows.insertBefore(control.row, this.#rows.children[i] ?? null);
    }
    for (const [key, { row }] of this.#controls) {
      if (seen.has(key)) continue;
      row.remove();
      this.#controls.delete(key);
    }
  }

  focus(isLast = false): void {
    const controls = this.#stops;
    (isLast ? controls.at(-1) : controls[0])?.focus();
  }

  focusOn(name: string): void {
    for (const [key, { row }] of this.#controls) if (key.startsWith(`${name}\n`)) row.querySelector('input')?.focus();
  }

  /** The fields of the rows in order, followed by the button. */
  get #stops(): HTMLElement[] {
    return [...this.#place.querySelectorAll<HTMLElement>('input:not([hidden]), .property-add:not([hidden])')];
  }

  #makeRow(key: string, property: Property): PropertyControl & { row: HTMLElement } {
    const { name } = property;
    const change = (make: (it: PropertiesModule) => TextChange | undefined) => this.#apply(make(this.#module));
    const control = makeControl(property, {
      setValue: (value) => change((it) => it.setValue(this.#text, name, value)),
      addItem: (item) => change((it) => it.addItem(this.#text, name, item)),
      removeItem: (index) => change((it) => it.removeItem(this.#text, name, index)),
    });
    const row = document.createElement('div');
    row.className = 'property';
    const label = document.createElement('span');
    label.className = 'property-name';
    label.dir = 'auto';
    label.textContent = name;
    label.title = name;
    const remove = document.createElement('button');
    remove.type = 'button';
    remove.className = 'property-remove';
    remove.textContent = '×';
    remove.ariaLabel = `Remove ${name}`;
    remove.title = 'Remove';
    remove.addEventListener('click', () => {
      change((it) => it.removeProperty(this.#text, name));
      this.#add.focus();
    });
    row.append(label, control.element, remove);
    const made = { ...control, row };
    this.#controls.set(key, made);
    return made;
  }

  #makeAdding(): void {
    this.#add.type = 'button';
    this.#add.className = 'property-add';
    this.#add.textContent = '+ Add property';
    this.#name.hidden = true;
    this.#name.placeholder = 'Name';
    this.#name.ariaLabel = 'New property name';
    this.#name.maxLength = 100;
    this.#name.setAttribute('list', 'property-names');
    const toggle = (isNaming: boolean) => {
      this.#name.value = '';
      this.#name.hidden = !isNaming;
      this.#add.hidden = isNaming;
    };
    this.#add.addEventListener('click', () => {
      toggle(true);
      this.#name.focus();
    });
    const finish = (name: string) => {
      toggle(false);
      if (name === '') return;
      this.#apply(this.#module.addProperty(this.#text, name));
      this.focusOn(name);
    };
    this.#name.addEventListener('blur', () => this.#name.hidden || finish(this.#name.value.trim()));
    this.#name.addEventListener('keydown', (event) => {
      if (event.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return;
      event.preventDefault();
      finish(event.key === 'Enter' ? this.#name.value.trim() : '');
      if (event.key === 'Escape') this.#add.focus();
    });
  }

  #apply(change: TextChange | undefined): void {
    if (change) this.#view.dispatch({ changes: change, userEvent: 'input.type' });
  }

  #onKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const { key, ctrlKey, metaKey, shiftKey } = event;
    const isMod = ctrlKey || metaKey;
    if (isMod && /^[zy]$/i.test(key)) this.#undo(key.toLowerCase() === 'y' || shiftKey);
    else if (isMod && /^[se/]$/i.test(key)) runScopeHandlers(this.#view, event, 'editor');
    else if (event.defaultPrevented || isMod || !this.#move(event)) return void event.stopPropagation();
    event.preventDefault();
    event.stopPropagation();
  }

  /** Undoing may remove the row: keep the focus in the rows, or else in the text. */
  #undo(isRedo: boolean): void {
    (isRedo ? redo : undo)(this.#view);
    if (!this.#place.isConnected) this.#view.focus();
    else if (!this.#place.matches(':focus-within')) this.#add.focus();
  }

  /** Moves the focus to the field above or below, or out of the rows into the text. */
  #move({ key, target }: KeyboardEvent): boolean {
    const by = key === 'ArrowDown' || key === 'Enter' ? 1 : key === 'ArrowUp' ? -1 : 0;
    if (key === 'Escape') return this.#leave();
    const isButton = target instanceof HTMLButtonElement;
    if (by === 0 || (target instanceof HTMLInputElement && target.type === 'date') || (isButton && key === 'Enter'))
      return false;
    const stops = this.#stops;
    const next = stops.indexOf(target as HTMLElement) + by;
    if (next >= stops.length) return this.#leave();
    stops[next]?.focus();
    return true;
  }

  #leave(): true {
    const { doc } = this.#view.state;
    const anchor = Math.min(firstPlace(doc.sliceString(0, this.#text.length + 1_000)), doc.length);
    this.#view.dispatch({ selection: { anchor }, scrollIntoView: true });
    this.#view.focus();
    return true;
  }
}

function proposedNames(): HTMLDataListElement {
  const list = document.createElement('datalist');
  list.id = 'property-names';
  list.append(...PROPOSED.map((name) => new Option(name, name)));
  return list;
}
