import { SHOW_ANEW, type ShowAnew } from '../on-page.ts';

type Shown = Record<'title' | 'path' | 'status', string>;

/** What tree, breadcrumbs and tab say of a page. */
const shownAs = ({ title, path, status }: Shown) => [title, path, status].join('\n');

let shown: string | undefined;

/** What surrounds the editor becomes that of the page as it was saved, where it says something else. `before`: as it was opened. */
export function showSavedPage(page: Shown, before: Shown): void {
  shown ??= shownAs(before);
  if (shown === shownAs(page)) return;
  shown = shownAs(page);
  document.dispatchEvent(new Event('ibid-pages-changed'));
  const detail: ShowAnew = { href: location.href, done: () => undefined };
  document.dispatchEvent(new CustomEvent(SHOW_ANEW, { cancelable: true, detail }));
}
