const KEY = 'ibid-scroll';
const PLACES_MAX = 100;

/**
 * The scroll position of each history entry in this tab. The browser's own scroll restoration does not work here: it
 * records the position with the old text and scrolls before the new text is shown.
 */
const places: Record<string, number> = read();
let current = '';

/** Starts tracking the position of the current history entry. Its key is stored in its state. */
export function enterHistoryEntry(): void {
  const state = history.state as { ibid?: string } | null;
  // Not randomUUID(), which exists only on pages served over HTTPS.
  current = state?.ibid ?? `${Date.now()}-${Math.random()}`;
  if (state?.ibid === undefined) history.replaceState({ ...state, ibid: current }, '');
}

/**
 * Stores the scroll position of the current entry. Navigation calls it before it changes the entry, because a pending
 * scroll event would fire later, for the new entry.
 */
export function keepPlace(): void {
  places[current] = scrollY;
}

/** Returns the stored scroll position of this entry in pixels; undefined for a new entry. */
export function placeOfEntry(): number | undefined {
  return places[current];
}

/** Starts tracking, and restores the position that an earlier load of this entry had. */
export function rememberScroll(): void {
  enterHistoryEntry();
  const place = history.scrollRestoration === 'manual' ? placeOfEntry() : undefined;
  if (place !== undefined) scrollToPlace(place);
  addEventListener('scroll', keepPlace, { passive: true });
  addEventListener('pagehide', write);
}

/** Events by which a reader scrolls. */
const HANDS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
let arrival = new AbortController();

/**
 * Scrolls to a position. If the page is not long enough yet, because its end loads on demand, repeats that as the page
 * grows.
 */
export function scrollToPlace(place: number): void {
  stopArriving();
  scrollTo(0, place);
  if (scrollY >= Math.floor(place)) return;
  arrival = new AbortController();
  const { signal } = arrival;
  const grown = new ResizeObserver(() => {
    scrollTo(0, place);
    if (scrollY >= Math.floor(place)) stopArriving();
  });
  grown.observe(document.body);
  signal.addEventListener('abort', () => grown.disconnect());
  for (const kind of HANDS) addEventListener(kind, stopArriving, { signal, passive: true });
}

/** Stops repeating, because the reader goes elsewhere. */
export function stopArriving(): void {
  arrival.abort();
}

function write(): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(places).slice(-PLACES_MAX))));
  } catch {
    // Storage is disabled: a reloaded page begins at its top.
  }
}

function read(): Record<string, number> {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
  } catch {
    return {};
  }
}
