import { splitTitle } from './organize/page-icon.ts';

/** Returns the focusable entry of a list item in the tree. */
export function itemOf(item: Element): HTMLAnchorElement | null {
  return item.querySelector<HTMLAnchorElement>(':scope > .row > .leaf, :scope > a');
}

/**
 * Gives the list the ARIA roles of a tree with a single tab stop. Called again after entries were added, and skips
 * elements that already have roles. Without scripts it stays a list of links.
 */
export function markAsTree(roots: HTMLElement, changed = roots): void {
  for (const list of changed.querySelectorAll('ul:not([role])')) {
    const isTop = list.parentElement === roots;
    list.setAttribute('role', isTop ? 'tree' : 'group');
    if (!isTop) continue;
    list.setAttribute('aria-label', 'Pages');
    list.setAttribute('aria-description', 'Press Shift+F10 for the menu of a page');
  }
  for (const item of changed.querySelectorAll<HTMLLIElement>('li:not([role])')) markAsRow(item);
  if (roots.querySelector('[role="treeitem"][tabindex="0"]')) return;
  const first = roots.querySelector<HTMLElement>('[role="treeitem"][aria-current]') ?? roots.querySelector('.leaf');
  if (first instanceof HTMLElement) first.tabIndex = 0;
}

/** Gives the roles to a single row that was added to a list of a tree. */
export function markAsRow(item: HTMLLIElement): void {
  item.setAttribute('role', 'none');
  const entry = itemOf(item);
  entry?.setAttribute('role', 'treeitem');
  if (entry && !entry.hasAttribute('tabindex')) entry.tabIndex = -1;
  const twist = item.querySelector<HTMLElement>(':scope > .row > a.twist');
  if (!twist) return;
  // The arrow keys open the branch, so hide the button that opens it for the pointer.
  twist.tabIndex = -1;
  twist.setAttribute('aria-hidden', 'true');
  entry?.setAttribute('aria-expanded', String(item.classList.contains('open')));
}

/** Moves the focus by the keys of a tree (ARIA Authoring Practices). Returns whether the key was handled. */
export function moveByKey(
  { key, target }: KeyboardEvent,
  roots: HTMLElement,
  setOpen: (item: HTMLLIElement, open: boolean) => void,
): boolean {
  const entry = (target as Element).closest<HTMLAnchorElement>('[role="treeitem"]');
  const item = entry?.closest('li');
  if (!entry || !item) return false;
  const shown = walkShown(roots, entry);
  const isBranch = item.dataset.page !== undefined;
  const isOpen = item.classList.contains('open');
  if (key === 'ArrowRight' && isBranch && !isOpen) setOpen(item, true);
  else if (key === 'ArrowLeft' && isBranch && isOpen) setOpen(item, false);
  else if (key === 'ArrowLeft') focus(roots, itemOf(item.parentElement?.closest('li') ?? item));
  else if (key === 'ArrowRight') focus(roots, isBranch ? shown.nextNode() : entry);
  else if (key === 'ArrowDown') focus(roots, shown.nextNode());
  else if (key === 'ArrowUp') focus(roots, shown.previousNode());
  else if (key === 'Home') focus(roots, walkShown(roots).firstChild());
  else if (key === 'End') focus(roots, walkShown(roots).lastChild());
  else if (key.length === 1 && key.trim() !== '') {
    const letter = key.toLocaleLowerCase();
    for (const it of shownAfter(roots, entry)) {
      const { name } = splitTitle(it.textContent?.trim() ?? '');
      if (!name.toLocaleLowerCase().startsWith(letter)) continue;
      focus(roots, it);
      break;
    }
  } else return false;
  return true;
}

/** Creates a walker over the entries outside closed branches. A step costs the same in a list of any length. */
function walkShown(roots: HTMLElement, from: Node = roots): TreeWalker {
  const walker = document.createTreeWalker(roots, NodeFilter.SHOW_ELEMENT, (node) => {
    if (!(node instanceof HTMLElement) || node.hidden) return NodeFilter.FILTER_REJECT;
    return node.role === 'treeitem' ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP;
  });
  walker.currentNode = from;
  return walker;
}

/** Yields all other visible entries: first the entries after `entry`, then the entries above it. */
function* shownAfter(roots: HTMLElement, entry: Node): Generator<Node> {
  const walker = walkShown(roots, entry);
  for (let it = walker.nextNode(); it; it = walker.nextNode()) yield it;
  walker.currentNode = roots;
  for (let it = walker.nextNode(); it && it !== entry; it = walker.nextNode()) yield it;
}

function focus(roots: HTMLElement, entry: Node | null): void {
  if (!(entry instanceof HTMLElement)) return;
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
