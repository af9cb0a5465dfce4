import { SHOW_ANEW, type ShowAnew } from '../on-page.ts';
import { readAhead, readPage, readWholePage, stopReadingAhead, withoutHash } from './fetch-page.ts';
import { replaceShell } from './replace-shell.ts';
import {
  enterHistoryEntry,
  keepPlace,
  placeOfEntry,
  rememberScroll,
  scrollToPlace,
  stopArriving,
} from './scroll-memory.ts';
import { prepareSwap } from './swap.ts';

/** Actions whose pages only display content. Other actions have forms and scripts that need a full load. */
const SHOWN_ACTIONS = /^\/-\/(?:search|tags|pages)(?:\/|$)/;

let request = new AbortController();
let shown = withoutHash(location);
/** Whether the address already names a page that is still loading. */
let isLoading = false;

/** Opens an address: replaces the current page if it is a page of this wiki, otherwise loads it. */
export async function goTo(href: string): Promise<void> {
  const url = new URL(href, location.href);
  if (!isPageHere(url) || !isPageHere(location) || withoutHash(url) === shown) return void (location.href = href);
  const enter = (at: URL) => {
    keepPlace();
    history.pushState(null, '', at);
  };
  if (!(await show(url, enter))) location.href = href;
}

/**
 * Follows links between pages of a wiki without a full load, so that the tree and the search keep their state. Falls
 * back to a load in every unusual case: another wiki, a form, a refusal, an ended session, another version of the
 * service.
 */
export function navigateInPlace(): void {
  if (!document.querySelector('ibid-palette')) return;
  rememberScroll();
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const url = linkOf(event);
    if (!url) return;
    event.preventDefault();
    void goTo(url.href);
  });
  document.addEventListener(SHOW_ANEW, (event) => {
    const { href, done } = (event as CustomEvent<ShowAnew>).detail;
    event.preventDefault();
    void showAnew(new URL(href, location.href)).then(done);
  });
  for (const kind of ['pointerover', 'focusin', 'touchstart']) {
    document.addEventListener(
      kind,
      (event) => {
        const url = linkOf(event);
        if (url) readAhead(url);
        else stopReadingAhead();
      },
      { passive: true },
    );
  }
  addEventListener('popstate', () => {
    // The scroll position belongs to the entry that was left, unless the browser restored another or the page of that
    // entry was still loading.
    if (history.scrollRestoration === 'manual' && !isLoading) keepPlace();
    enterHistoryEntry();
    const place = placeOfEntry();
    // Another position in the same page.
    if (withoutHash(location) === shown) return scrollToEntry(place);
    const enter = (at: URL) => history.replaceState(history.state, '', at);
    isLoading = true;
    void show(new URL(location.href), enter, place).then((isShown) => {
      if (!isShown) location.reload();
    });
  });
}

/** Returns the address of a link whose page can replace the current page. */
function linkOf({ target }: Event): URL | undefined {
  const link =
    target instanceof Element
      ? target.closest<HTMLAnchorElement>('a[href]:not([target], [download], [role="button"], .twist)')
      : null;
  if (!link) return undefined;
  const url = new URL(link.href);
  return isPageHere(url) && isPageHere(location) && withoutHash(url) !== shown ? url : undefined;
}

function isPageHere({ origin, pathname }: URL | Location): boolean {
  const { root = '' } = document.querySelector<HTMLElement>('ibid-palette')?.dataset ?? {};
  if (root === '' || origin !== location.origin) return false;
  if (pathname === root) return true;
  const below = pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : '';
  return below !== '' && (!below.startsWith('/-/') || SHOWN_ACTIONS.test(below));
}

/**
 * Shows a page with a newly fetched tree; also refreshes the current page. Returns false if the page must be loaded.
 */
async function showAnew(url: URL): Promise<boolean> {
  if (withoutHash(url) === withoutHash(location) && document.querySelector('ibid-editor')) return replaceShell();
  if (!isPageHere(url) || !isPageHere(location)) return false;
  const enter = (at: URL) => {
    if (withoutHash(at) === shown) return;
    keepPlace();
    history.pushState(null, '', at);
  };
  return show(url, enter, withoutHash(url) === shown ? scrollY : undefined, readWholePage);
}

/** Shows a page; `enter` creates its history entry. Returns false if the page must be loaded. */
async function show(url: URL, enter: (at: URL) => void, place?: number, read = readPage): Promise<boolean> {
  request.abort();
  request = new AbortController();
  const { signal } = request;
  document.documentElement.classList.add('loading');
  try {
    const page = await read(url, signal);
    // The user has followed another link since.
    if (signal.aborted) return true;
    const swap = page && isPageHere(page.url) ? prepareSwap(page.text) : undefined;
    if (!page || !swap) return false;
    // For both the entry that is left and the entry that is entered.
    history.scrollRestoration = 'manual';
    enter(page.url);
    history.scrollRestoration = 'manual';
    enterHistoryEntry();
    shown = withoutHash(page.url);
    isLoading = false;
    await swap();
    focusOnPage();
    scrollToEntry(place);
    return true;
  } catch {
    // A full load will show the error.
    return signal.aborted;
  } finally {
    if (!signal.aborted) document.documentElement.classList.remove('loading');
  }
}

/** Scrolls to the stored position, or in a new entry to the target of the address or the top. */
function scrollToEntry(place: number | undefined): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (place !== undefined) return scrollToPlace(place);
  stopArriving();
  if (named) named.scrollIntoView();
  else scrollTo(0, 0);
}

/** Moves the focus to the beginning of the text, as a full load would for keyboards and screen readers. */
function focusOnPage(): void {
  const main = document.querySelector<HTMLElement>('main');
  const heading = main?.querySelector<HTMLElement>('h1') ?? main;
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  announceTitle();
}

function announceTitle(): void {
  let status = document.getElementById('page-status');
  if (!status) {
    status = document.createElement('p');
    status.id = 'page-status';
    status.className = 'sr-only';
    status.setAttribute('role', 'status');
    document.body.append(status);
  }
  status.textContent = document.title;
}
