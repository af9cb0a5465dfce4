import './palette.ts';
import './tree.ts';
import { highlightCurrentHeading } from './outline.ts';

// Tells the style sheet that scripts run.
document.documentElement.classList.add('scripted');

highlightCurrentHeading();

// On a narrow screen the tree is above the text, so it starts closed. On a wide one it is always shown; see tree.css.
const treeFold = document.querySelector<HTMLDetailsElement>('.tree-fold');
if (treeFold && !matchMedia('(max-width: 52rem)').matches) treeFold.open = true;

// Menus close on a click outside and on Escape.
const menu = document.querySelector<HTMLDetailsElement>('.menu');
document.addEventListener('click', (event) => {
  if (menu?.open && !menu.contains(event.target as Node)) menu.open = false;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !menu?.open) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
});

// Makes content that is wider than the column scrollable by keyboard.
for (const wide of document.querySelectorAll<HTMLElement>('.prose pre, .prose table')) {
  if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
}

// Shows times in the reader's time zone and language.
for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime);
  if (!Number.isNaN(at.getTime()))
    time.textContent = at.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
}
