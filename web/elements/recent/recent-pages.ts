import type { Entry } from '../palette/find.ts';
import { readKept, writeKept } from './kept.ts';

interface RecentPage {
  path: string;
  title: string;
}

/** Maximum number of pages that are stored, latest first. */
const KEPT = 8;

/** Returns the pages that this user read last in this wiki and browser, without the current page. */
export function recentEntries({ user = '', wiki = '', root = '', page = '' }: DOMStringMap): Entry[] {
  return readKept(user, wiki, isPage)
    .filter(({ path }) => path !== page)
    .map(({ path, title }) => ({ kind: 'recent', href: `${root}/${path}`, title, where: path, snippet: '' }));
}

/** Stores a visit of the current page, for this user only, until they sign out here. */
export function rememberVisit({ user = '', wiki = '', page = '', title = '' }: DOMStringMap): void {
  if (page === '') return;
  const others = readKept(user, wiki, isPage).filter(({ path }) => path !== page);
  writeKept(user, wiki, [{ path: page, title }, ...others].slice(0, KEPT));
}

function isPage(value: unknown): value is RecentPage {
  const { path, title } = (value ?? {}) as Partial<RecentPage>;
  return typeof path === 'string' && typeof title === 'string';
}
