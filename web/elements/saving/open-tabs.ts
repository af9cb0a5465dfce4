/** How long to wait for other tabs. A frozen tab does not answer; it writes under its own key. */
const ANSWER_MS = 150;

/** Messages between the editors in the tabs of a browser: the drafts that each is writing. */
export class OpenTabs {
  readonly #channel = new BroadcastChannel('ibid-drafts');
  readonly #waiting = new Set<Set<string>>();

  constructor(ownKey: () => string) {
    this.#channel.addEventListener('message', ({ data }: MessageEvent<{ asks?: true; key?: string }>) => {
      if (data.asks) this.#channel.postMessage({ key: ownKey() });
      if (data.key !== undefined) for (const keys of this.#waiting) keys.add(data.key);
    });
  }

  /** Returns the keys of the drafts that other tabs are writing. */
  async keysOfOthers(): Promise<ReadonlySet<string>> {
    const keys = new Set<string>();
    this.#waiting.add(keys);
    this.#channel.postMessage({ asks: true });
    await new Promise((done) => setTimeout(done, ANSWER_MS));
    this.#waiting.delete(keys);
    return keys;
  }

  close(): void {
    this.#channel.close();
  }
}
