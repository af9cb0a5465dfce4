const EVENT = 'ibid-page';

/**
 * Runs now, and again after each page that navigation shows without a load. The signal is aborted when the next page is
 * shown, which removes listeners on the window or the document.
 */
export function onPage(run: (signal: AbortSignal) => void): void {
  let shown = new AbortController();
  const start = () => {
    shown.abort();
    shown = new AbortController();
    run(shown.signal);
  };
  document.addEventListener(EVENT, start);
  start();
}

export function announcePage(): void {
  document.dispatchEvent(new CustomEvent(EVENT));
}

/** The event by which another bundle asks to show a page with a fresh tree, without a load. */
export const SHOW_ANEW = 'ibid-show-anew';

/** Its detail. The handler cancels the event if it will call `done`. */
export interface ShowAnew {
  href: string;
  done(isShown: boolean): void;
}
