import './copy-link.ts';
import './organize/load.ts';
import './palette/palette.ts';
import './related.ts';
import './tree.ts';
import { navigateInPlace } from './navigation/navigate.ts';
import { onPage } from './on-page.ts';
import { makeOneStop, moveInGroups } from './one-stop.ts';
import { highlightCurrentHeading } from './outline.ts';
import { timeWords } from './time-words.ts';
import { filterTree } from './tree-filter.ts';
import { openViewerLinks } from './viewer/links.ts';

// Tells the style sheet that scripts run.
document.documentElement.classList.add('scripted');

onPage(highlightCurrentHeading);
onPage(makeOneStop);
moveInGroups();
filterTree();
navigateInPlace();
openViewerLinks();

// On a narrow screen the tree is above the text, so it starts closed. On a wide screen it is always shown; see
// tree.css.
const treeFold = document.querySelector<HTMLDetailsElement>('.tree-fold');
if (treeFold && !matchMedia('(max-width: 52rem)').matches) treeFold.open = true;

// Closes menus on a click outside, on Escape, and when another menu opens.
const openMenus = () => document.querySelectorAll<HTMLDetailsElement>('details:is(.menu, .switcher, .find-help)[open]');
document.addEventListener('click', (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target as Node)) menu.open = false;
});
// A panel opened from a menu replaces the menu. When the panel closes, the focus returns to the menu's button.
document.addEventListener('click', ({ target }) => {
  const menu = (target as Element).closest('[popovertarget]')?.closest<HTMLDetailsElement>('details.menu');
  if (!menu) return;
  menu.querySelector('summary')?.focus();
  menu.open = false;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector('summary')?.focus();
  }
});

onPage(() => {
  makeWideScrollable();
  showLocalTimes();
});

/** Makes content that is wider than the column scrollable by keyboard. */
function makeWideScrollable(): void {
  for (const wide of document.querySelectorAll<HTMLElement>('.prose pre, .prose table, .passage blockquote')) {
    const isTall = wide.localName === 'blockquote' && wide.scrollHeight > wide.clientHeight;
    if (isTall || wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  }
}

function showLocalTimes(): void {
  for (const time of document.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.textContent = timeWords(at, at.getTimezoneOffset());
  }
}
