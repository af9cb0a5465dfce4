/**
 * A fetched page of this wiki: its HTML and its final address, which differs from the request if the page has moved.
 */
export interface FetchedPage {
  url: URL;
  text: string;
}

/** Parameter that makes the service omit the header and the tree, which the page keeps. */
const FRAGMENT = 'fragment';

/** How long a prefetched page may be shown without a new request. */
const FRESH_MS = 10_000;
/** A pointer that only passes over a link stays on it for less time. */
const REST_MS = 80;
/** Maximum number of prefetches by one page. */
const AHEAD_MAX = 20;

let ahead: { url: string; at: number; page: Promise<FetchedPage | undefined> } | undefined;
let left = AHEAD_MAX;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Fetches a page. Returns undefined if the browser has to load it instead, as for a refusal or a file. Throws TypeError
 * without a connection, and AbortError.
 */
export function readPage(url: URL, signal?: AbortSignal): Promise<FetchedPage | undefined> {
  clearTimeout(timer);
  const known = ahead;
  ahead = undefined;
  left = AHEAD_MAX;
  if (known && known.url === withoutHash(url) && Date.now() - known.at < FRESH_MS) return known.page;
  return fetchPage(url, signal);
}

/** Prefetches a page that the user will probably open next. Fetches one page at a time, and keeps only the last. */
export function readAhead(url: URL): void {
  clearTimeout(timer);
  if (ahead?.url === withoutHash(url) && Date.now() - ahead.at < FRESH_MS) return;
  timer = setTimeout(() => {
    if (left === 0 || document.hidden) return;
    left -= 1;
    // Ignore errors: opening the page fetches it again and reports them.
    const page = fetchPage(url).catch(() => undefined);
    ahead = { url: withoutHash(url), at: Date.now(), page };
  }, REST_MS);
}

/** Cancels prefetching when the pointer leaves the link. */
export function stopReadingAhead(): void {
  clearTimeout(timer);
}

/** Fetches a page with its tree, never from the prefetch cache. Returns undefined and throws as `readPage` does. */
export function readWholePage(url: URL, signal?: AbortSignal): Promise<FetchedPage | undefined> {
  clearTimeout(timer);
  ahead = undefined;
  return fetchPage(url, signal, false);
}

async function fetchPage(url: URL, signal?: AbortSignal, isFragment = true): Promise<FetchedPage | undefined> {
  const asked = new URL(withoutHash(url));
  if (isFragment) asked.searchParams.set(FRAGMENT, 'page');
  const response = await fetch(asked, {
    credentials: 'same-origin',
    headers: { accept: 'text/html' },
    ...(signal && { signal }),
  });
  if (!response.ok || !response.headers.get('content-type')?.startsWith('text/html')) return undefined;
  const text = await response.text();
  if (!response.redirected) return { url, text };
  const moved = new URL(response.url);
  moved.searchParams.delete(FRAGMENT);
  moved.hash = url.hash;
  return { url: moved, text };
}

export function withoutHash({ origin, pathname, search }: URL | Location): string {
  return origin + pathname + search;
}
