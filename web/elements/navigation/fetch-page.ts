/** A page of this wiki as it was answered: its address, which a moved page has changed, and its HTML. */
export interface FetchedPage {
  url: URL;
  text: string;
}

/** The parameter by which the service leaves out what stays: header and tree. */
const FRAGMENT = 'fragment';

/** How long a page that was fetched ahead is shown without asking again. */
const FRESH_MS = 10_000;
/** A pointer that only passes by rests on a link for less. */
const REST_MS = 80;
/** Pages that are fetched ahead by one page at most. */
const AHEAD_MAX = 20;

let ahead: { url: string; at: number; page: Promise<FetchedPage | undefined> } | undefined;
let left = AHEAD_MAX;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The page; undefined where a load has to decide what is shown: a refusal, a file. Errors: TypeError without a connection, AbortError. */
export function readPage(url: URL, signal?: AbortSignal): Promise<FetchedPage | undefined> {
  clearTimeout(timer);
  const known = ahead;
  ahead = undefined;
  left = AHEAD_MAX;
  if (known && known.url === withoutHash(url) && Date.now() - known.at < FRESH_MS) return known.page;
  return fetchPage(url, signal);
}

/** Fetches a page that is probably opened next; one at a time, and only the last is kept. */
export function readAhead(url: URL): void {
  clearTimeout(timer);
  if (ahead?.url === withoutHash(url) && Date.now() - ahead.at < FRESH_MS) return;
  timer = setTimeout(() => {
    if (left === 0 || document.hidden) return;
    left -= 1;
    // It is asked for again when it is opened, and then says what is wrong.
    const page = fetchPage(url).catch(() => undefined);
    ahead = { url: withoutHash(url), at: Date.now(), page };
  }, REST_MS);
}

/** The pointer has left the link. */
export function stopReadingAhead(): void {
  clearTimeout(timer);
}

/** The page with its tree, as the service has it now. Undefined and errors as above. */
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
