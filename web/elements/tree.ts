import { BRANCH_PAGE_SIZE, type Branch } from './branch.ts';
import { callApi } from './call-api.ts';
import { itemOf, link, markAsTree, moveByKey } from './tree-keys.ts';
import { openTreeMemory } from './tree-memory.ts';
import { loadMoreWhenSeen } from './tree-more.ts';

const roots = document.querySelector<HTMLElement>('.tree-roots');
const panel = roots?.closest<HTMLElement>('.tree');
const memory = openTreeMemory(roots?.dataset.root ?? '');
const longLists = roots && loadMoreWhenSeen(roots, branchItem);

if (roots && panel) {
  void restore(roots, panel, memory).finally(() => {
    document.documentElement.classList.remove('tree-waits');
    // tree-waiting.ts may run later than this.
    document.documentElement.classList.add('tree-there');
  });
  addEventListener('pagehide', () => memory.keep(openIds(), panel.scrollTop));
  // Any write may change any branch.
  for (const type of ['submit', 'ibid-pages-changed']) document.addEventListener(type, () => memory.forgetBranches());
}

roots?.addEventListener('click', (event) => {
  const twist = (event.target as Element).closest<HTMLAnchorElement>('a.twist');
  const item = twist?.closest<HTMLLIElement>('li');
  if (!item || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  void setOpen(item, !item.classList.contains('open'), true);
});

roots?.addEventListener('keydown', (event) => {
  const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
  if (isPlain && moveByKey(event, roots, (item, open) => void setOpen(item, open, true))) event.preventDefault();
});

/** Opens the given branches, parents first, and restores the scroll position. */
async function restore(
  within: HTMLElement,
  scrolled: HTMLElement,
  was: { open: readonly string[]; scroll: number },
): Promise<void> {
  for (const id of was.open) {
    const item = within.querySelector<HTMLLIElement>(`li[data-page="${CSS.escape(id)}"]:not(.open)`);
    if (item) await setOpen(item, true);
  }
  markAsTree(within);
  longLists?.watch();
  scrolled.scrollTop = was.scroll;
  scrollToCurrent(scrolled);
}

/** Replaces the tree with the service's current tree and reopens the open branches. Resolves when they are open. */
export async function replaceTree(next: Element): Promise<void> {
  if (!roots || !panel) return;
  const was = { open: openIds(), scroll: panel.scrollTop };
  roots.replaceChildren(...next.children);
  await restore(roots, panel, was);
}

function openIds(): string[] {
  return [...(roots?.querySelectorAll<HTMLElement>('li.open[data-page]') ?? [])].map((it) => it.dataset.page ?? '');
}

/** Opens or closes a branch in place and loads its pages the first time. `isAsked`: the reader requested it. */
async function setOpen(item: HTMLLIElement, open: boolean, isAsked = false): Promise<void> {
  item.classList.toggle('open', open);
  itemOf(item)?.setAttribute('aria-expanded', String(open));
  const list = item.querySelector<HTMLElement>(':scope > ul');
  if (list) list.hidden = !open;
  else if (open) await loadChildren(item, isAsked);
}

async function loadChildren(item: HTMLLIElement, isAsked: boolean): Promise<void> {
  const page = item.dataset.page ?? '';
  const cached = memory.branches(page);
  if (cached) return addChildren(item, cached);
  const query = new URLSearchParams({ page_id: page, limit: String(BRANCH_PAGE_SIZE) });
  try {
    const branches = await callApi<Branch[]>('GET', `${roots?.dataset.api}/branches?${query}`);
    const below = branches.filter(({ parent_page_id }) => parent_page_id === page);
    memory.keepBranches(page, below);
    addChildren(item, below);
    if (roots) markAsTree(roots, item);
    longLists?.watch();
  } catch {
    // The page that lists the branch shows the error if it persists.
    item.classList.remove('open');
    itemOf(item)?.setAttribute('aria-expanded', 'false');
    if (isAsked) location.href = item.querySelector<HTMLAnchorElement>('a.twist')?.href ?? location.href;
  }
}

function addChildren(item: HTMLLIElement, below: readonly Branch[]): void {
  const list = document.createElement('ul');
  list.append(...below.map(branchItem));
  if (below.length >= BRANCH_PAGE_SIZE) {
    const more = document.createElement('li');
    more.className = 'more';
    more.append(link(item.querySelector<HTMLAnchorElement>('a.twist')?.href ?? '', 'All pages here…'));
    list.append(more);
  }
  item.append(list);
}

function branchItem({ page_id, path, title, status, has_children }: Branch): HTMLLIElement {
  const item = document.createElement('li');
  const row = document.createElement('span');
  row.className = 'row';
  const root = roots?.dataset.root ?? '';
  if (has_children) {
    item.dataset.page = page_id;
    const twist = link(`${root}/-/pages/${path}`, '', 'twist');
    row.append(twist);
  } else {
    const gap = document.createElement('span');
    gap.className = 'twist';
    row.append(gap);
  }
  const leaf = link(`${root}/${path}`, title, 'leaf');
  leaf.title = title;
  row.append(leaf);
  if (status !== 'published') {
    const tag = document.createElement('span');
    tag.className = 'tag';
    tag.textContent = status;
    row.append(tag);
  }
  item.append(row);
  return item;
}

/**
 * Marks the current page in the tree, which navigation does not replace. Loads the branches around the page if it is
 * missing.
 */
export async function showPageInTree(address: string, page_id: string): Promise<void> {
  if (!roots || !panel) return;
  roots.querySelector('[aria-current]')?.removeAttribute('aria-current');
  if (!leafOf(address) && page_id !== '') await addBranchesAround(page_id);
  const leaf = leafOf(address);
  // The reader may have opened another page since.
  if (!leaf || location.pathname !== address) return;
  leaf.setAttribute('aria-current', 'page');
  for (let item = leaf.closest('li'); item; item = item.parentElement?.closest('li') ?? null) {
    const list = item.parentElement?.closest<HTMLLIElement>('li');
    if (list && !list.classList.contains('open')) await setOpen(list, true);
  }
  for (const other of roots.querySelectorAll<HTMLElement>('[role="treeitem"][tabindex="0"]')) other.tabIndex = -1;
  markAsTree(roots);
  longLists?.watch();
  scrollToCurrent(panel);
}

function leafOf(address: string): HTMLAnchorElement | null {
  return roots?.querySelector<HTMLAnchorElement>(`a.leaf[href="${CSS.escape(decodeURI(address))}"]`) ?? null;
}

/** Adds the missing entries of a page's ancestors and their siblings. */
async function addBranchesAround(page_id: string): Promise<void> {
  const query = new URLSearchParams({ page_id, limit: String(BRANCH_PAGE_SIZE) });
  let branches: Branch[];
  try {
    branches = await callApi<Branch[]>('GET', `${roots?.dataset.api}/branches?${query}`);
  } catch {
    // The tree then marks no page as current.
    return;
  }
  const below = Map.groupBy(branches, ({ parent_page_id }) => parent_page_id);
  // From the root down, so that a parent's item exists before its pages are added.
  for (const parents = ['']; parents.length > 0; ) {
    const parent = parents.shift() ?? '';
    const pages = below.get(parent) ?? [];
    parents.push(...pages.map((page) => page.page_id));
    addMissing(parent, pages);
  }
}

function addMissing(parent: string, pages: readonly Branch[]): void {
  const item = parent === '' ? roots : roots?.querySelector<HTMLLIElement>(`li[data-page="${CSS.escape(parent)}"]`);
  if (!item || pages.length === 0) return;
  const list = item.querySelector<HTMLElement>(':scope > ul');
  if (list) {
    const missing = pages.filter(({ path }) => !leafOf(`${roots?.dataset.root}/${path}`)).map(branchItem);
    const more = list.querySelector(':scope > .more');
    if (more) more.before(...missing);
    else list.append(...missing);
  } else if (item instanceof HTMLLIElement) {
    addChildren(item, pages);
    item.querySelector<HTMLElement>(':scope > ul')?.toggleAttribute('hidden', !item.classList.contains('open'));
  }
}

/** Scrolls the tree, and only the tree, to the current page: scrollIntoView() would scroll the window as well. */
function scrollToCurrent(inside: HTMLElement): void {
  const here = inside.querySelector('[aria-current]')?.getBoundingClientRect();
  if (!here || here.height === 0) return;
  const { top, bottom } = inside.getBoundingClientRect();
  if (here.bottom > bottom || here.top < top) inside.scrollTop += here.top - (top + bottom) / 2;
}
