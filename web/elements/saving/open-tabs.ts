/** How long another tab has for its answer. One that is frozen does not answer; it writes under a key of its own. */
const ANSWER_MS = 150;

/** What editors in the tabs of a browser tell each other: which drafts are being written just now. */
export class OpenTabs {
  readonly #channel = new BroadcastChannel('ibid-drafts');
  readonly #waiting = new Set<Set<string>>();

  constructor(ownKey: () => string) {
    this.#channel.addEventListener('message', ({ data }: MessageEvent<{ asks?: true; key?: string }>) => {
      if (data.asks) this.#channel.postMessage({ key: ownKey() });
      if (data.key !== undefined) for (const keys of this.#waiting) keys.add(data.key);
    });
  }

  /** The keys of the drafts that other tabs are writing. */
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
