interface Group {
  group: string;
  /** Selector of the focusable elements in the group. */
  entries: string;
  isVertical: boolean;
  /** undefined: the preceding heading is the label. */
  label: string | undefined;
}

const GROUPS: readonly Group[] = [
  { group: '.top .do', entries: ':scope > a, :scope > details > summary', isVertical: false, label: 'Actions' },
  {
    group: '.page-bar',
    entries:
      '.crumbs > ol > li > a, .crumbs summary, .page-do > :is(a, button), .page-do > .star > button, .page-do > details > summary',
    isVertical: false,
    label: 'This page',
  },
  { group: '.tree-more', entries: ':scope > li > a', isVertical: true, label: 'More in this wiki' },
  { group: '.sections ul', entries: ':scope > li > a', isVertical: true, label: undefined },
];

/**
 * Makes each group a single tab stop with arrow keys inside (the toolbar pattern of the ARIA Authoring Practices), so
 * that the text is only a few keys away. Called again for each page shown. Without scripts each entry is a tab stop.
 */
export function makeOneStop(): void {
  for (const { group, entries, isVertical, label } of GROUPS) {
    for (const bar of document.querySelectorAll<HTMLElement>(group)) {
      if (entriesOf(bar, entries).length < 2) continue;
      bar.role = 'toolbar';
      bar.ariaLabel = label ?? bar.previousElementSibling?.textContent ?? '';
      if (isVertical) bar.ariaOrientation = 'vertical';
      for (const item of bar.querySelectorAll(':scope > li')) item.role = 'none';
      chooseStop(bar, entries);
    }
  }
}

/** Handles the keys of all groups, including groups of pages shown later. */
export function moveInGroups(): void {
  document.addEventListener('focusin', ({ target }) => {
    const found = groupOf(target);
    if (found) chooseStop(found.bar, found.entries, found.entry);
  });
  document.addEventListener('keydown', (event) => {
    const found = event.altKey || event.ctrlKey || event.metaKey ? undefined : groupOf(event.target);
    if (!found) return;
    const { bar, entries, entry, isVertical } = found;
    const isFromRight = getComputedStyle(bar).direction === 'rtl';
    const [next, last] = isVertical
      ? ['ArrowDown', 'ArrowUp']
      : isFromRight
        ? ['ArrowLeft', 'ArrowRight']
        : ['ArrowRight', 'ArrowLeft'];
    const shown = entriesOf(bar, entries);
    const at = shown.indexOf(entry);
    const to = { [next]: at + 1, [last]: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    shown[Math.max(0, Math.min(to, shown.length - 1))]?.focus();
  });
  // A window of another width may hide the current tab stop.
  addEventListener('resize', makeOneStop);
}

interface Found {
  bar: HTMLElement;
  entries: string;
  entry: HTMLElement;
  isVertical: boolean;
}

function groupOf(target: EventTarget | null): Found | undefined {
  if (!(target instanceof HTMLElement)) return undefined;
  for (const { group, entries, isVertical } of GROUPS) {
    const bar: HTMLElement | null = target.closest<HTMLElement>(group);
    if (bar?.role === 'toolbar' && entriesOf(bar, entries).includes(target))
      return { bar, entries, isVertical, entry: target };
  }
  return undefined;
}

function entriesOf(bar: HTMLElement, entries: string): HTMLElement[] {
  return [...bar.querySelectorAll<HTMLElement>(entries)].filter((it) => it.checkVisibility());
}

/** Makes one entry the tab stop. Without `entry`, keeps the previous tab stop if it is still visible. */
function chooseStop(bar: HTMLElement, entries: string, entry?: HTMLElement): void {
  const shown = entriesOf(bar, entries);
  const before = shown.find((it) => it.tabIndex === 0 && it.hasAttribute('tabindex'));
  const stop = entry ?? before ?? shown.find((it) => it.ariaCurrent === 'page') ?? shown[0];
  for (const it of bar.querySelectorAll<HTMLElement>(entries)) it.tabIndex = it === stop ? 0 : -1;
}
