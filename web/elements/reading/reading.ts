import { onPage } from '../on-page.ts';
import { addCodeButtons } from './code.ts';
import { addHeadingLinks } from './headings.ts';
import { enlargeImages, replaceBrokenPlayers } from './images.ts';
import { sortTables } from './tables.ts';
import { tickTasks } from './tasks.ts';

/** Enhancements for reading, loaded if a page has such content. The page is usable without them. */
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
