import { BRANCH_PAGE_SIZE, type Branch } from './branch.ts';
import { callList } from './call-api.ts';
import { itemOf, markAsRow } from './tree-keys.ts';

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
  /** The last row of a list that came with one of its parts: of the rows before it none comes again. */
  const placed = new WeakMap<Element, HTMLLIElement>();
  const watched = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watched.unobserve(target);
      void load(target as HTMLLIElement);
    }
  });

  /** Undefined where that row has gone meanwhile. */
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
      // The link leads to them, and says what is wrong.
      return;
    }
    // A row that is there already, such as that of the page that is shown, comes to its place.
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

/** The rows of a list behind one of them, or all. */
function rowsBehind(list: Element, row: Element | undefined): HTMLLIElement[] {
  const rows: HTMLLIElement[] = [];
  for (let it = row ? row.nextElementSibling : list.firstElementChild; it; it = it.nextElementSibling)
    if (it instanceof HTMLLIElement && !it.classList.contains('more')) rows.push(it);
  return rows;
}

/**
 * Says of the rows behind `counted` which they are of how many, where the document does not have all of them: -1 is an unknown
 * number (ARIA). A list that is whole says it of all.
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
