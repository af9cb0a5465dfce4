import type { Property } from './read-properties.ts';

export interface PropertyActions {
  setValue(value: string): void;
  addItem(item: string): void;
  removeItem(index: number): void;
}

/** The part of a row that shows a value and edits it. */
export interface PropertyControl {
  readonly element: HTMLElement;
  show(property: Property): void;
}

export function makeControl(property: Property, actions: PropertyActions): PropertyControl {
  if (property.kind === 'list') return listControl(property.name, actions);
  if (property.kind === 'other') return sourceControl();
  return fieldControl(property, actions);
}

function fieldControl({ name, kind }: Property, { setValue }: PropertyActions): PropertyControl {
  const input = document.createElement('input');
  input.type = kind === 'check' ? 'checkbox' : kind === 'date' ? 'date' : 'text';
  input.ariaLabel = name;
  input.autocomplete = 'off';
  input.dir = 'auto';
  if (kind === 'check') input.addEventListener('change', () => setValue(String(input.checked)));
  // A half-typed date has no value.
  else input.addEventListener('input', () => input.validity.badInput || setValue(input.value.trim()));
  return {
    element: input,
    show({ value }) {
      input.checked = value === 'true';
      // Keep spaces at the end, because a word may follow.
      if (input.value.trim() !== value) input.value = value;
    },
  };
}

function listControl(name: string, { addItem, removeItem }: PropertyActions): PropertyControl {
  const element = document.createElement('div');
  element.className = 'property-items';
  const input = document.createElement('input');
  input.ariaLabel = `Add to ${name}`;
  input.placeholder = 'Add';
  input.autocomplete = 'off';
  input.dir = 'auto';
  let count = 0;
  const add = () => {
    const item = input.value.trim();
    input.value = '';
    if (item !== '') addItem(item);
  };
  input.addEventListener('blur', add);
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const isAdded = (event.key === 'Enter' || event.key === ',') && input.value.trim() !== '';
    const isRemoved = event.key === 'Backspace' && input.value === '' && count > 0;
    if (isAdded) add();
    else if (isRemoved) removeItem(count - 1);
    else return;
    event.preventDefault();
  });
  element.append(input);
  return {
    element,
    show({ items }) {
      count = items.length;
      for (const old of element.querySelectorAll('.property-item')) old.remove();
      input.before(...items.map((item, i) => itemChip(item, name, () => removeItem(i), input)));
    },
  };
}

function itemChip(item: string, name: string, onRemove: () => void, input: HTMLInputElement): HTMLElement {
  const chip = document.createElement('span');
  chip.className = 'property-item';
  const words = document.createElement('bdi');
  words.textContent = item;
  const remove = document.createElement('button');
  remove.type = 'button';
  remove.textContent = '×';
  remove.ariaLabel = `Remove ${item} from ${name}`;
  remove.addEventListener('click', () => {
    onRemove();
    input.focus();
  });
  chip.append(words, remove);
  return chip;
}

/** Shows a value that rows cannot edit. */
function sourceControl(): PropertyControl {
  const element = document.createElement('code');
  element.title = 'Edit this in the Markdown source (Ctrl+E).';
  return {
    element,
    show({ value }) {
      element.textContent = value;
    },
  };
}
