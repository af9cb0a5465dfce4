/** The entry of the tree in a list item: what has the focus. */
export function itemOf(item: Element): HTMLAnchorElement | null {
  return item.querySelector<HTMLAnchorElement>(':scope > .row > .leaf, :scope > a');
}

/**
 * Gives the list the roles of a tree, of which one entry is a tab stop. Called again when entries were added, to `changed`.
 * Without scripts it stays a list of links.
 */
export function markAsTree(roots: HTMLElement, changed = roots): void {
  for (const list of changed.querySelectorAll('ul')) {
    const isTop = list.parentElement === roots;
    list.setAttribute('role', isTop ? 'tree' : 'group');
    if (!isTop) continue;
    list.setAttribute('aria-label', 'Pages');
    list.setAttribute('aria-description', 'Shift F10 opens the menu of a page');
  }
  for (const item of changed.querySelectorAll('li')) {
    item.setAttribute('role', 'none');
    const entry = itemOf(item);
    entry?.setAttribute('role', 'treeitem');
    if (entry && !entry.hasAttribute('tabindex')) entry.tabIndex = -1;
    const twist = item.querySelector<HTMLElement>(':scope > .row > a.twist');
    if (!twist) continue;
    // The arrow keys open what it opens for the pointer.
    twist.tabIndex = -1;
    twist.setAttribute('aria-hidden', 'true');
    entry?.setAttribute('aria-expanded', String(item.classList.contains('open')));
  }
  if (roots.querySelector('[role="treeitem"][tabindex="0"]')) return;
  const first = roots.querySelector<HTMLElement>('[role="treeitem"][aria-current]') ?? roots.querySelector('.leaf');
  if (first instanceof HTMLElement) first.tabIndex = 0;
}

/** Moves the focus as in every tree (ARIA Authoring Practices). Returns whether the key was one of its keys. */
export function moveByKey(
  { key, target }: KeyboardEvent,
  roots: HTMLElement,
  setOpen: (item: HTMLLIElement, open: boolean) => void,
): boolean {
  const entry = (target as Element).closest<HTMLAnchorElement>('[role="treeitem"]');
  const item = entry?.closest('li');
  if (!entry || !item) return false;
  const shown = [...roots.querySelectorAll<HTMLAnchorElement>('[role="treeitem"]')].filter((it) =>
    it.checkVisibility(),
  );
  const at = shown.indexOf(entry);
  const isBranch = item.dataset.page !== undefined;
  const isOpen = item.classList.contains('open');
  if (key === 'ArrowRight' && isBranch && !isOpen) setOpen(item, true);
  else if (key === 'ArrowLeft' && isBranch && isOpen) setOpen(item, false);
  else if (key === 'ArrowLeft') focus(roots, itemOf(item.parentElement?.closest('li') ?? item));
  else if (key === 'ArrowRight') focus(roots, isBranch ? shown[at + 1] : entry);
  else if (key === 'ArrowDown') focus(roots, shown[at + 1]);
  else if (key === 'ArrowUp') focus(roots, shown[at - 1]);
  else if (key === 'Home') focus(roots, shown[0]);
  else if (key === 'End') focus(roots, shown.at(-1));
  else if (key.length === 1 && key.trim() !== '') {
    const letter = key.toLocaleLowerCase();
    const rest = [...shown.slice(at + 1), ...shown.slice(0, at)];
    focus(
      roots,
      rest.find((it) => it.textContent.trim().toLocaleLowerCase().startsWith(letter)),
    );
  } else return false;
  return true;
}

function focus(roots: HTMLElement, entry: HTMLElement | null | undefined): void {
  if (!entry) return;
  for (const other of roots.querySelectorAll<HTMLElement>('[role="treeitem"][tabindex="0"]')) other.tabIndex = -1;
  entry.tabIndex = 0;
  entry.focus();
}

export function link(href: string, text: string, className = ''): HTMLAnchorElement {
  const anchor = document.createElement('a');
  anchor.href = href;
  anchor.textContent = text;
  if (className !== '') anchor.className = className;
  return anchor;
}
