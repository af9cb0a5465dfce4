import type { Entry } from './find.ts';

/** A page that was read in this browser. */
interface RecentPage {
  path: string;
  title: string;
}

/** Maximum number of pages that are kept, the last one first. */
const KEPT = 8;

/** The pages that this user read last in this wiki and browser, but for the one that is shown. */
export function recentEntries({ user = '', wiki = '', root = '', page = '' }: DOMStringMap): Entry[] {
  return readKept(user, wiki)
    .filter(({ path }) => path !== page)
    .map(({ path, title }) => ({ kind: 'recent', href: `${root}/${path}`, title, where: path, snippet: '' }));
}

/** Keeps the page that is shown, for this user alone, until they sign out here. */
export function rememberVisit({ user = '', wiki = '', page = '', title = '' }: DOMStringMap): void {
  if (page !== '') keep(user, wiki, { path: page, title });
}

export function forgetOnSignOut({ user = '' }: DOMStringMap): void {
  document.querySelector('form[action="/sign-out"]')?.addEventListener('submit', () => forget(user));
}

function readKept(user: string, wiki: string): RecentPage[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(user, wiki)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isPage) : [];
  } catch {
    // Storage is disabled, or holds something else under this key.
    return [];
  }
}

function keep(user: string, wiki: string, page: RecentPage): void {
  const others = readKept(user, wiki).filter(({ path }) => path !== page.path);
  try {
    localStorage.setItem(keyOf(user, wiki), JSON.stringify([page, ...others].slice(0, KEPT)));
  } catch {
    // The browser keeps nothing, or has no room.
  }
}

/** Forgets what this user read, in all wikis. */
function forget(user: string): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(keyOf(user, ''))) localStorage.removeItem(key);
  } catch {
    // Storage is disabled, so there is nothing.
  }
}

function keyOf(user: string, wiki: string): string {
  return `ibid-recent ${user} ${wiki}`;
}

function isPage(value: unknown): value is RecentPage {
  const { path, title } = (value ?? {}) as Partial<RecentPage>;
  return typeof path === 'string' && typeof title === 'string';
}
