import { BRANCH_PAGE_SIZE, type Branch } from './branch.ts';
import { callList } from './call-api.ts';
import { itemOf, markAsTree } from './tree-keys.ts';

/** Pages of one request after the first. */
const CHUNK = 250;
/** Longer lists are laid out only where they are seen. */
const LONG = 200;

/**
 * Lists longer than a branch end with a link to all its pages. Where scripts run, the pages that follow are loaded when it
 * comes into sight, until the list is whole. `watch` begins with the lists that are there now.
 */
export function loadMoreWhenSeen(roots: HTMLElement, makeRow: (branch: Branch) => HTMLLIElement): { watch(): void } {
  const next = new WeakMap<Element, string>();
  const watched = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watched.unobserve(target);
      void load(target as HTMLLIElement);
    }
  });

  async function load(more: HTMLLIElement): Promise<void> {
    const list = more.parentElement;
    if (!list) return;
    const parent = list.closest<HTMLLIElement>('li')?.dataset.page ?? '';
    const from = { page_id: parent, limit: String(CHUNK), offset: String(BRANCH_PAGE_SIZE) };
    const path = next.get(more) ?? `${roots.dataset.api}/branches?${new URLSearchParams(from)}`;
    const hadFocus = more.contains(document.activeElement);
    let part: { records: Branch[]; next: string | undefined };
    try {
      part = await callList<Branch>(path);
    } catch {
      // The link leads to them, and says what is wrong.
      return;
    }
    // A row that is there already, such as that of the page that is shown, comes to its place.
    const known = new Map([...list.children].map((item) => [itemOf(item)?.getAttribute('href'), item]));
    const rows = part.records.map((branch) => known.get(`${roots.dataset.root}/${branch.path}`) ?? makeRow(branch));
    more.before(...rows);
    list.classList.toggle('long', list.childElementCount > LONG);
    if (part.next === undefined) more.remove();
    else next.set(more, part.next);
    markAsTree(roots, list);
    countRows(list);
    const [first] = rows;
    if (hadFocus && first) itemOf(first)?.focus();
    if (part.next !== undefined) watched.observe(more);
  }

  return {
    watch() {
      for (const more of roots.querySelectorAll<HTMLElement>('li.more')) {
        countRows(more.parentElement);
        watched.observe(more);
      }
    },
  };
}

/** Says which row of how many each is, where the document does not have all of them: -1 is an unknown number (ARIA). */
function countRows(list: Element | null): void {
  const rows = [...(list?.children ?? [])].filter((item) => !item.classList.contains('more'));
  const size = rows.length === list?.childElementCount ? rows.length : -1;
  for (const [i, item] of rows.entries()) {
    const entry = itemOf(item);
    entry?.setAttribute('aria-posinset', String(i + 1));
    entry?.setAttribute('aria-setsize', String(size));
  }
}
