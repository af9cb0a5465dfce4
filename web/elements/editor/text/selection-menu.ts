import { type EditorState, type Extension, StateEffect, StateField, type Transaction } from '@codemirror/state';
import { EditorView, keymap, showTooltip, type Tooltip, type TooltipView } from '@codemirror/view';
import { formatTools } from '../format-tools.ts';
import { Toolbar } from '../toolbar.ts';

/** Set when the pointer that selects is released; cleared when the menu is dismissed. */
const setShown = StateEffect.define<boolean>();

/** The tools next to the selected words. Hidden while the pointer is still selecting. */
const menuField = StateField.define<Tooltip | null>({
  create: () => null,
  update: (menu, transaction) => nextMenu(menu, transaction),
  provide: (field) => showTooltip.from(field),
});

function nextMenu(menu: Tooltip | null, transaction: Transaction): Tooltip | null {
  const { state, effects, selection, docChanged } = transaction;
  for (const effect of effects) if (effect.is(setShown)) return effect.value ? menuFor(state) : null;
  if (!selection && !docChanged) return menu;
  // Keep an open menu after a change: the user set a mark, and may set another.
  const isSelecting =
    selection !== undefined && transaction.isUserEvent('select') && !transaction.isUserEvent('select.pointer');
  return isSelecting || menu ? menuFor(state) : null;
}

function menuFor(state: EditorState): Tooltip | null {
  const { main } = state.selection;
  if (state.sliceDoc(main.from, main.to).trim() === '') return null;
  // On a touch screen the system's own menu is above the selection.
  return { pos: main.from, end: main.to, above: !matchMedia('(pointer: coarse)').matches, create: createMenu };
}

function createMenu(view: EditorView): TooltipView {
  const { headings, marks, lists, quotes } = formatTools(view);
  const bar = new Toolbar('Format the selection', [marks, headings, [...lists, ...quotes]]);
  bar.element.classList.add('selection-menu');
  bar.element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    view.focus();
  });
  return { dom: bar.element, update: () => bar.update() };
}

function focusMenu(view: EditorView): boolean {
  if (!view.state.field(menuField)) view.dispatch({ effects: setShown.of(true) });
  // The tooltip is drawn at the next measurement.
  setTimeout(() => view.dom.querySelector<HTMLElement>('.selection-menu [tabindex="0"]')?.focus());
  return view.state.field(menuField) !== null;
}

function dismissMenu(view: EditorView): boolean {
  if (!view.state.field(menuField)) return false;
  view.dispatch({ effects: setShown.of(false) });
  return true;
}

/**
 * Shows tools next to a selection. Alt+F10 moves the focus into them, as in other editors. Escape moves it back, and a
 * second Escape closes them.
 */
export const selectionMenu: Extension = [
  menuField,
  keymap.of([
    { key: 'Alt-F10', run: focusMenu },
    { key: 'Escape', run: dismissMenu },
  ]),
  EditorView.domEventHandlers({
    mouseup: (_event, view) => {
      // CodeMirror reads the pointer's selection from the document a moment later.
      setTimeout(() => view.hasFocus && view.dispatch({ effects: setShown.of(true) }));
    },
    focusout: (_event, view) => {
      setTimeout(() => {
        const { activeElement } = view.root as ShadowRoot;
        if (!view.dom.contains(activeElement)) dismissMenu(view);
      });
    },
  }),
];
