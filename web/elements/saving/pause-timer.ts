/** The length in characters from which it takes longer to store a text than to draw a key. */
export const LONG_TEXT = 100_000;
/** How long after the timer a busy browser may put it off. */
const IDLE_MS = 250;

/** Runs something once after changes, at the latest a second after the first of them; a long text waits for an idle moment. */
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

  /** Does not put off what waits already. `length`: of the text, in characters. */
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
