/** A finger's click follows its release within this time, if it comes at all. */
const CLICK_WITHIN_MS = 350;

/** Defers changes of a list between a press and its click, so that the pressed entry stays under the finger. */
export class PressHold {
  #isPressed = false;
  #waiting: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Handler for `pointerdown` on the list. */
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
    // Let the click's own handlers run first.
    addEventListener('click', () => setTimeout(release), { signal, capture: true });
    addEventListener('pointerup', () => (this.#timer = setTimeout(release, CLICK_WITHIN_MS)), { signal });
    // A finger that scrolls does not press.
    addEventListener('pointercancel', release, { signal });
  };

  /** Runs a change now, or after the press has ended. Of several deferred changes only the last one runs. */
  run(change: () => void): void {
    if (this.#isPressed) this.#waiting = change;
    else change();
  }
}
