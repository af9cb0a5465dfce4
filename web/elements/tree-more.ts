import { BRANCH_PAGE_SIZE, type Branch } from './branch.ts';
import { callList } from './call-api.ts';
import { itemOf, markAsRow } from './tree-keys.ts';

/** Pages per request after the first request. */
const CHUNK = 250;
/** Longer lists are laid out only where they are visible. */
const LONG = 200;

/**
 * Loads the rest of long lists. Such a list ends with a link to all its pages. With scripts, further pages load
 * whenever the link becomes visible, until the list is complete. `watch` starts observing the current lists.
 */
export function loadMoreWhenSeen(roots: HTMLElement, makeRow: (branch: Branch) => HTMLLIElement): { watch(): void } {
  const next = new WeakMap<Element, string>();
  /** The last row of a list that came from a loaded part. Further parts contain only later rows. */
  const placed = new WeakMap<Element, HTMLLIElement>();
  const watched = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watched.unobserve(target);
      void load(target as HTMLLIElement);
    }
  });

  /** Returns that row; undefined if it has been removed since. */
  function placedIn(list: Element): HTMLLIElement | undefined {
    const row = placed.get(list);
    return row?.parentElement === list ? row : undefined;
  }

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
      // The link remains and leads to a page that shows the error.
      return;
    }
    // Reuse a row that the list already has, such as the row of the current page, and move it to its place.
    const last = placedIn(list);
    const known = new Map(rowsBehind(list, last).map((row) => [itemOf(row)?.getAttribute('href'), row]));
    const rows = part.records.map((branch) => known.get(`${roots.dataset.root}/${branch.path}`) ?? makeRow(branch));
    more.before(...rows);
    for (const row of rows) markAsRow(row);
    list.classList.toggle('long', list.childElementCount > LONG);
    if (part.next === undefined) more.remove();
    else next.set(more, part.next);
    countRows(list, last);
    const end = rows.at(-1);
    if (end) placed.set(list, end);
    const [first] = rows;
    if (hadFocus && first) itemOf(first)?.focus();
    if (part.next !== undefined) watched.observe(more);
  }

  return {
    watch() {
      for (const more of roots.querySelectorAll<HTMLElement>('li.more')) {
        const list = more.parentElement;
        if (list) countRows(list, placedIn(list));
        watched.observe(more);
      }
    },
  };
}

/** Returns the rows of a list after a given row, or all rows. */
function rowsBehind(list: Element, row: Element | undefined): HTMLLIElement[] {
  const rows: HTMLLIElement[] = [];
  for (let it = row ? row.nextElementSibling : list.firstElementChild; it; it = it.nextElementSibling)
    if (it instanceof HTMLLIElement && !it.classList.contains('more')) rows.push(it);
  return rows;
}

/**
 * Sets the position of the rows after `counted` and the size of the list. The size is -1 (unknown, in ARIA) until the
 * list is complete, and then set on all rows.
 */
function countRows(list: Element, counted?: Element): void {
  const isWhole = list.lastElementChild?.classList.contains('more') === false;
  const before = Number((counted && itemOf(counted)?.getAttribute('aria-posinset')) ?? 0);
  for (const [i, row] of rowsBehind(list, counted).entries()) {
    itemOf(row)?.setAttribute('aria-posinset', String(before + i + 1));
    itemOf(row)?.setAttribute('aria-setsize', '-1');
  }
  if (isWhole)
    for (const row of list.children) itemOf(row)?.setAttribute('aria-setsize', String(list.childElementCount));
}
