import './palette.ts';
import './tree.ts';
import { deleteSavedDraft } from './editor/draft.ts';
import { highlightCurrentHeading } from './outline.ts';

// Says to the style sheet that what needs a script is there.
document.documentElement.classList.add('scripted');

highlightCurrentHeading();
deleteSavedDraft();

// On a narrow screen the tree stands above the text, so it begins closed.
const treeFold = document.querySelector<HTMLDetailsElement>('.tree-fold');
if (treeFold && matchMedia('(max-width: 52rem)').matches) treeFold.open = false;

// A menu closes where one would expect it to.
const menu = document.querySelector<HTMLDetailsElement>('.menu');
document.addEventListener('click', (event) => {
  if (menu?.open && !menu.contains(event.target as Node)) menu.open = false;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !menu?.open) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
});

// What is wider than the column can be scrolled by keyboard too.
for (const wide of document.querySelectorAll<HTMLElement>('.prose pre, .prose table')) {
  if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
}

// Times in the reader's own words.
for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime);
  if (!Number.isNaN(at.getTime()))
    time.textContent = at.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
}
