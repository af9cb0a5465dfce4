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

/** Actions whose pages only show something. The others have forms and scripts that begin with a load. */
const SHOWN_ACTIONS = /^\/-\/(?:search|tags|pages)(?:\/|$)/;

let request = new AbortController();
let shown = withoutHash(location);
/** The address is that of a page that is not shown yet. */
let isLoading = false;

/** Opens an address: a page of this wiki in place of the one that is shown, any other by a load. */
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
 * Follows links between pages of a wiki without a load, so that tree and search stay as they are. Whatever is unusual is
 * loaded: another wiki, a form, a refusal, the end of a session, another version of the service.
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
    // Else the browser has scrolled by itself, or the text is not that of the entry that was left.
    if (history.scrollRestoration === 'manual' && !isLoading) keepPlace();
    enterHistoryEntry();
    const place = placeOfEntry();
    // Another place of the same page.
    if (withoutHash(location) === shown) return scrollToEntry(place);
    const enter = (at: URL) => history.replaceState(history.state, '', at);
    isLoading = true;
    void show(new URL(location.href), enter, place).then((isShown) => {
      if (!isShown) location.reload();
    });
  });
}

/** The page that a link leads to, if it can be shown in place of this one. */
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

/** Shows a page, or again the one that is shown, with the tree as it is now. Returns false where it has to be loaded. */
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

/** Shows a page; `enter` makes its entry in the history. Returns false where it has to be loaded. */
async function show(url: URL, enter: (at: URL) => void, place?: number, read = readPage): Promise<boolean> {
  request.abort();
  request = new AbortController();
  const { signal } = request;
  document.documentElement.classList.add('loading');
  try {
    const page = await read(url, signal);
    // Another link was followed meanwhile.
    if (signal.aborted) return true;
    const swap = page && isPageHere(page.url) ? prepareSwap(page.text) : undefined;
    if (!page || !swap) return false;
    // Of the entry that is left, and of the one that is entered.
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
    // The load says what is wrong.
    return signal.aborted;
  } finally {
    if (!signal.aborted) document.documentElement.classList.remove('loading');
  }
}

/** To where it was left; a new entry to what its address names, or to the top. */
function scrollToEntry(place: number | undefined): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (place !== undefined) return scrollToPlace(place);
  stopArriving();
  if (named) named.scrollIntoView();
  else scrollTo(0, 0);
}

/** As a load would: keyboard and screen reader go on at the beginning of the text. */
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
