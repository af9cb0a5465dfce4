import { element } from './dom.ts';

export interface MenuItem {
  name: string;
  isBad?: boolean;
  keys?: string;
  run(): unknown;
}

/**
 * Opens a menu next to an element, as a popover that Escape and a click outside close. On a narrow screen it is a sheet
 * at the bottom. The focus returns to `opener` when the menu closes.
 */
export function openMenu(
  label: string,
  groups: readonly (readonly MenuItem[])[],
  beside: DOMRect,
  opener: HTMLElement,
): void {
  const menu = element('div', { className: 'sheet row-menu', popover: 'auto', role: 'menu', ariaLabel: label });
  menu.append(element('p', { className: 'sheet-title', ariaHidden: 'true' }, label));
  for (const group of groups.filter(({ length }) => length > 0)) {
    menu.append(element('div', { role: 'group' }, ...group.map((item) => button(item, menu))));
  }
  menu.addEventListener('keydown', (event) => moveInMenu(event, menu));
  menu.addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState !== 'closed') return;
    const hadFocus = menu.contains(document.activeElement) || document.activeElement === document.body;
    menu.remove();
    if (hadFocus) opener.focus({ preventScroll: true });
  });
  document.body.append(menu);
  menu.showPopover();
  placeBeside(menu, beside);
  menu.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
}

function button({ name, isBad = false, keys = '', run }: MenuItem, menu: HTMLElement): HTMLButtonElement {
  const made = element(
    'button',
    { type: 'button', role: 'menuitem', tabIndex: -1, className: isBad ? 'bad' : '' },
    name,
  );
  if (keys !== '') made.append(element('kbd', { ariaHidden: 'true' }, keys));
  made.addEventListener('click', () => {
    menu.hidePopover();
    run();
  });
  return made;
}

/**
 * Places a box below an element, or as far up as needed to fit the window. CSS ignores the position if the menu is a
 * sheet.
 */
export function placeBeside(box: HTMLElement, { left, bottom }: DOMRect): void {
  const { width, height } = box.getBoundingClientRect();
  box.style.setProperty('--x', `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`);
  box.style.setProperty('--y', `${Math.max(8, Math.min(bottom + 2, innerHeight - height - 8))}px`);
}

/** Handles the keys of a menu as in WAI-ARIA's menu pattern. */
function moveInMenu(event: KeyboardEvent, menu: HTMLElement): void {
  const items = [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const { key } = event;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[key];
  const letter = key.length === 1 && key !== ' ' && !(event.ctrlKey || event.metaKey || event.altKey);
  if (to !== undefined) items.at(to % items.length)?.focus();
  else if (key === 'Tab') menu.hidePopover();
  else if (letter) {
    const rest = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    rest.find((it) => it.textContent.toLowerCase().startsWith(key.toLowerCase()))?.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
