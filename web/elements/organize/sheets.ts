import { element } from './dom.ts';

/** The same breakpoint for narrow windows as in the style sheets. */
const narrow = matchMedia('(max-width: 52rem)');

const PANELS: Record<string, { selector: string; name: string }> = {
  tree: { selector: '.tree', name: 'Pages' },
  outline: { selector: '.outline', name: 'On this page' },
};

/**
 * On a narrow window, opens the panels next to the text as sheets from the bar at the bottom. Each sheet is a popover,
 * which Escape and a tap outside close. Without a script, the links of the bar lead to pages instead.
 */
export function openSheets(): void {
  // Capture the click before the handler that follows links, because these links open sheets if scripts run.
  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    const opener = target.closest<HTMLElement>('[data-sheet]');
    if (opener && open(opener.dataset.sheet ?? '')) event.preventDefault();
    // A link in a sheet leads to content that the sheet covers.
    if (target.closest('a.leaf, .outline a')) target.closest<HTMLElement>(':popover-open')?.hidePopover();
  };
  document.addEventListener('click', onClick, true);
  narrow.addEventListener('change', () => {
    if (narrow.matches) return;
    for (const { selector } of Object.values(PANELS)) document.querySelector(selector)?.removeAttribute('popover');
  });
}

function open(name: string): boolean {
  if (name === 'search') {
    const palette = document.querySelector<HTMLElement & { open(): void }>('ibid-palette');
    palette?.open();
    return palette !== null;
  }
  const { selector = '', name: title = '' } = PANELS[name] ?? {};
  const panel = document.querySelector<HTMLElement>(selector);
  if (!panel) return false;
  panel.popover = 'auto';
  if (!panel.querySelector('.sheet-head')) panel.prepend(head(title, panel));
  panel.showPopover();
  const current = panel.querySelector<HTMLElement>('[aria-current], a.here') ?? panel.querySelector<HTMLElement>('a');
  current?.focus({ preventScroll: true });
  if (current) panel.scrollTop += current.getBoundingClientRect().top - innerHeight / 2;
  return true;
}

function head(title: string, panel: HTMLElement): HTMLElement {
  const close = element('button', { type: 'button', className: 'button quiet', ariaLabel: 'Close' }, '×');
  close.addEventListener('click', () => panel.hidePopover());
  return element('div', { className: 'sheet-head' }, element('strong', {}, title), close);
}
