import { BRANCH_PAGE_SIZE, type Branch } from './branch.ts';
import { callApi } from './call-api.ts';

const roots = document.querySelector<HTMLElement>('.tree-roots');

// Opens a branch in place; its pages are loaded the first time.
roots?.addEventListener('click', async (event) => {
  const twist = (event.target as Element).closest<HTMLAnchorElement>('a.twist');
  const item = twist?.closest<HTMLLIElement>('li');
  if (!twist || !item || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const isOpen = item.classList.toggle('open');
  twist.setAttribute('aria-expanded', String(isOpen));
  const list = item.querySelector(':scope > ul');
  if (list) (list as HTMLElement).hidden = !isOpen;
  else await loadChildren(item, twist);
});

for (const twist of roots?.querySelectorAll('a.twist') ?? []) {
  twist.setAttribute('role', 'button');
  twist.setAttribute('aria-expanded', String(twist.closest('li')?.classList.contains('open') ?? false));
}

async function loadChildren(item: HTMLLIElement, twist: HTMLAnchorElement): Promise<void> {
  const page = item.dataset.page ?? '';
  try {
    const branches = await callApi<Branch[]>(
      'GET',
      `${roots?.dataset.api}/branches?page_id=${encodeURIComponent(page)}&limit=${BRANCH_PAGE_SIZE}`,
    );
    const list = document.createElement('ul');
    const below = branches.filter(({ parent_page_id }) => parent_page_id === page);
    list.append(...below.map(branchItem));
    if (below.length >= BRANCH_PAGE_SIZE) {
      const more = document.createElement('li');
      more.className = 'more';
      more.append(link(twist.href, 'All pages here…'));
      list.append(more);
    }
    item.append(list);
  } catch {
    // Falls back to the page that lists the branch.
    location.href = twist.href;
  }
}

function branchItem({ page_id, path, title, status, has_children }: Branch): HTMLLIElement {
  const item = document.createElement('li');
  const row = document.createElement('span');
  row.className = 'row';
  const root = roots?.dataset.root ?? '';
  if (has_children) {
    item.dataset.page = page_id;
    const twist = link(`${root}/-/pages/${path}`, '', 'twist');
    twist.setAttribute('role', 'button');
    twist.setAttribute('aria-expanded', 'false');
    twist.setAttribute('aria-label', `Pages below ${title}`);
    const icon = roots?.querySelector('a.twist svg')?.cloneNode(true);
    if (icon) twist.append(icon);
    row.append(twist);
  } else {
    const gap = document.createElement('span');
    gap.className = 'twist';
    row.append(gap);
  }
  row.append(link(`${root}/${path}`, title, 'leaf'));
  if (status !== 'published') {
    const tag = document.createElement('span');
    tag.className = 'tag';
    tag.textContent = status;
    row.append(tag);
  }
  item.append(row);
  return item;
}

function link(href: string, text: string, className = ''): HTMLAnchorElement {
  const anchor = document.createElement('a');
  anchor.href = href;
  anchor.textContent = text;
  if (className !== '') anchor.className = className;
  return anchor;
}

// Scrolls the tree to the current page, and nothing but the tree: scrollIntoView() would scroll the window as well.
const panel = roots?.closest<HTMLElement>('.tree');
const here = roots?.querySelector('[aria-current]')?.getBoundingClientRect();
if (panel && here && here.height > 0) {
  const { top, bottom } = panel.getBoundingClientRect();
  if (here.bottom > bottom || here.top < top) panel.scrollTop += here.top - (top + bottom) / 2;
}
