import { SHOW_ANEW, type ShowAnew } from '../on-page.ts';

type Shown = Record<'title' | 'path' | 'status', string>;

/** The properties of a page that the tree, the breadcrumbs and the tab show. */
const shownAs = ({ title, path, status }: Shown) => [title, path, status].join('\n');

let shown: string | undefined;

/**
 * Reloads the surroundings of the editor if the save changed the title, path or status shown there. `before`: the page
 * as opened.
 */
export function showSavedPage(page: Shown, before: Shown): void {
  shown ??= shownAs(before);
  if (shown === shownAs(page)) return;
  shown = shownAs(page);
  document.dispatchEvent(new Event('ibid-pages-changed'));
  const detail: ShowAnew = { href: location.href, done: () => undefined };
  document.dispatchEvent(new CustomEvent(SHOW_ANEW, { cancelable: true, detail }));
}
