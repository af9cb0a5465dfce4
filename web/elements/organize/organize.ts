import * as actions from './actions.ts';
import { element } from './dom.ts';
import { dragRows } from './drag.ts';
import { chooseIcon } from './icon-picker.ts';
import { openMenu } from './menu.ts';
import { renameInPlace } from './rename.ts';
import { rowAt, treeContext } from './tree-pages.ts';

export { showWaitingFlash } from './flash.ts';

dragRows();

const mayWrite = () => treeContext().can('pages:write');

/** Opens the menu of a row with the actions for its page. */
export function openRowMenu(of: Element, beside?: HTMLElement): void {
  const row = rowAt(of);
  if (!row) return;
  const may = mayWrite();
  const groups = [
    may ? [{ name: 'New subpage', run: () => actions.writeSubpage(row) }] : [],
    may
      ? [
          { name: 'Rename', keys: 'F2', run: () => renameInPlace(row) },
          { name: 'Icon…', run: () => chooseIcon(row) },
          { name: 'Move…', run: () => actions.movePage(row) },
          { name: 'Move up', keys: 'Alt+↑', run: () => actions.movePageBy(row, -1) },
          { name: 'Move down', keys: 'Alt+↓', run: () => actions.movePageBy(row, 1) },
          { name: 'Duplicate', run: () => actions.duplicatePage(row) },
        ]
      : [],
    [
      { name: 'Copy link', run: () => actions.copyLink(row) },
      { name: 'Download as Markdown', run: () => actions.downloadPage(row) },
    ],
    may ? [{ name: 'Delete', isBad: true, run: () => actions.deletePage(row) }] : [],
  ];
  openMenu(row.title, groups, (beside ?? row.leaf).getBoundingClientRect(), row.leaf);
}

/** Handles the keys of a row: some rename or move its page, all others open its menu. */
export function pressInRow({ key }: KeyboardEvent, of: Element): void {
  const row = rowAt(of);
  const isChange = key === 'F2' || key.startsWith('Arrow');
  if (!row || (isChange && !mayWrite())) return;
  if (key === 'F2') renameInPlace(row);
  else if (isChange) void actions.movePageBy(row, key === 'ArrowUp' ? -1 : 1);
  else openRowMenu(of);
}

/** Lets the user choose the icon of the page at an address, from the menu of the page. */
export function chooseIconAt(href: string, title: string): Promise<void> {
  const menu = document.querySelector<HTMLDetailsElement>('.page-menu');
  if (menu) menu.open = false;
  return chooseIcon({ leaf: element('a', { href }), title }, menu?.querySelector('summary') ?? document.body);
}

/** Saves the Markdown of the page at this address as a file. */
export function downloadPageAt(href: string): Promise<void> {
  return actions.downloadPage({ leaf: element('a', { href }) });
}

let tools: HTMLElement | undefined;

/**
 * Shows "+" and "…" in the row under the pointer or the focus. They are for the pointer only, because a tree must not
 * contain buttons; on the keyboard Shift+F10 opens the same menu.
 */
export function showTools(row: Element): void {
  tools ??= makeTools();
  for (const button of tools.querySelectorAll<HTMLElement>('.row-new')) button.hidden = !mayWrite();
  if (tools.parentElement !== row) row.append(tools);
}

function makeTools(): HTMLElement {
  const made = element('span', { className: 'row-do', ariaHidden: 'true' });
  const add = element('button', { type: 'button', tabIndex: -1, className: 'row-new', title: 'New subpage' }, '+');
  const more = element('button', { type: 'button', tabIndex: -1, title: 'More (Shift+F10)' }, '…');
  made.append(add, more);
  // Keep the focus in place: elements hidden from screen readers must not take it.
  made.addEventListener('mousedown', (event) => event.preventDefault());
  made.addEventListener('click', (event) => {
    const row = rowAt(made);
    if (!row) return;
    if (event.target === add) void actions.writeSubpage(row);
    else openRowMenu(row.row, more);
  });
  return made;
}
