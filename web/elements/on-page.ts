const EVENT = 'ibid-page';

/**
 * Runs now, and again after each page that is shown in place of this one without a load. The signal is aborted when the
 * next page is shown: what was added to the window or the document ends with it.
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

/** Says that another page is shown now. */
export function announcePage(): void {
  document.dispatchEvent(new CustomEvent(EVENT));
}

/** The event by which another bundle asks to show a page, with the tree as it is now, without a load. */
export const SHOW_ANEW = 'ibid-show-anew';

/** Its detail. It is answered where the event is cancelled. */
export interface ShowAnew {
  href: string;
  done(isShown: boolean): void;
}
