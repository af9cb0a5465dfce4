const KEY = 'ibid-scroll';
/** More places than these are not kept. */
const PLACES_MAX = 100;

/**
 * Where each entry of the history was scrolled to, in this tab. The browser's own memory is of the text that was shown when an
 * entry was left, and scrolls before the text of the next one is there.
 */
const places: Record<string, number> = read();
let current = '';

/** The entry that is shown from now on: its key is in its state. */
export function enterHistoryEntry(): void {
  const state = history.state as { ibid?: string } | null;
  // Not randomUUID(), which a page has over https alone.
  current = state?.ibid ?? `${Date.now()}-${Math.random()}`;
  if (state?.ibid === undefined) history.replaceState({ ...state, ibid: current }, '');
}

/** Keeps where the text of this entry is scrolled to now: the event of a scroll comes later than a step in the history. */
export function keepPlace(): void {
  places[current] = scrollY;
}

/** Where this entry was scrolled to, in pixels; undefined for a new one. */
export function placeOfEntry(): number | undefined {
  return places[current];
}

/** Begins to remember, and returns the reader to where a load of this entry had been left. */
export function rememberScroll(): void {
  enterHistoryEntry();
  const place = history.scrollRestoration === 'manual' ? placeOfEntry() : undefined;
  if (place !== undefined) scrollToPlace(place);
  addEventListener('scroll', keepPlace, { passive: true });
  addEventListener('pagehide', write);
}

/** What tells that the reader scrolls by themselves. */
const HANDS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
let arrival = new AbortController();

/** Scrolls to a place: also where the page is not that long yet, because what is at its end comes when the end is seen. */
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

/** Another place is gone to. */
export function stopArriving(): void {
  arrival.abort();
}

function write(): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(places).slice(-PLACES_MAX))));
  } catch {
    // The browser keeps nothing: a page that is loaded again begins at its top.
  }
}

function read(): Record<string, number> {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
  } catch {
    return {};
  }
}
