/** Length in characters from which storing a text takes longer than drawing a keystroke. */
export const LONG_TEXT = 100_000;
/** How long a busy browser may delay the work after the timer has fired. */
const IDLE_MS = 250;

/**
 * Runs a function once after a series of changes, at most a second after the first. A long text waits for an idle
 * moment.
 */
export class PauseTimer {
  readonly #run: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #idle: number | undefined;

  constructor(run: () => void) {
    this.#run = run;
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined || this.#idle !== undefined;
  }

  /** Starts the timer unless it is already running. `length`: of the text, in characters. */
  start(length: number): void {
    if (this.isWaiting) return;
    const isLong = length >= LONG_TEXT && 'requestIdleCallback' in globalThis;
    this.#timer = setTimeout(() => (isLong ? this.#wait() : this.#now()), isLong ? 700 : 400);
  }

  #wait(): void {
    this.#timer = undefined;
    this.#idle = requestIdleCallback(() => this.#now(), { timeout: IDLE_MS });
  }

  #now(): void {
    this.stop();
    this.#run();
  }

  stop(): void {
    clearTimeout(this.#timer);
    if (this.#idle !== undefined) cancelIdleCallback(this.#idle);
    this.#timer = undefined;
    this.#idle = undefined;
  }
}
