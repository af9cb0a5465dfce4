import { onPage } from '../on-page.ts';
import { addCodeButtons } from './code.ts';
import { addHeadingLinks } from './headings.ts';
import { enlargeImages, replaceBrokenPlayers } from './images.ts';
import { sortTables } from './tables.ts';
import { tickTasks } from './tasks.ts';

/** What helps to read a text. It is loaded where a page has such things, and each of them is usable without it. */
onPage(() => {
  const prose = document.querySelector<HTMLElement>('article > .prose');
  if (!prose) return;
  addHeadingLinks(prose);
  addCodeButtons(prose);
  sortTables(prose);
  enlargeImages(prose);
  replaceBrokenPlayers(prose);
  tickTasks(prose);
});
