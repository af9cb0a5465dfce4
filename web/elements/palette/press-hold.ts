/** A finger's click follows its release within this time, if it comes at all. */
const CLICK_WITHIN_MS = 350;

/** Holds back changes of a list from a press on it to the click: what is pressed stays below the finger. */
export class PressHold {
  #isPressed = false;
  #waiting: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** To be called for `pointerdown` on the list. */
  readonly press = (): void => {
    clearTimeout(this.#timer);
    this.#isPressed = true;
    const ends = new AbortController();
    const { signal } = ends;
    const release = () => {
      ends.abort();
      clearTimeout(this.#timer);
      this.#isPressed = false;
      const change = this.#waiting;
      this.#waiting = undefined;
      change?.();
    };
    // What the click does is done first.
    addEventListener('click', () => setTimeout(release), { signal, capture: true });
    addEventListener('pointerup', () => (this.#timer = setTimeout(release, CLICK_WITHIN_MS)), { signal });
    // A finger that scrolls presses nothing.
    addEventListener('pointercancel', release, { signal });
  };

  /** Does it now, or when the press has ended; then only the latest. */
  run(change: () => void): void {
    if (this.#isPressed) this.#waiting = change;
    else change();
  }
}
