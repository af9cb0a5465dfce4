/** How long an accepted credential is let through although its address has reached the limit. */
const KNOWN_TTL_MS = 5 * 60_000;
const KNOWN_MAX = 20_000;

/** Credentials that were accepted recently, by the SHA-256 of the token. */
export class KnownCredentials {
  readonly #known = new Map<string, { subject: string; until: number }>();

  /** The subject of the credential; undefined where it was not accepted recently. */
  subjectOf(digest: string): string | undefined {
    const entry = this.#known.get(digest);
    if (entry === undefined) return undefined;
    if (entry.until > performance.now()) return entry.subject;
    this.#known.delete(digest);
    return undefined;
  }

  remember(digest: string, subject: string): void {
    const until = performance.now() + KNOWN_TTL_MS;
    const entry = this.#known.get(digest);
    if (entry) {
      entry.until = until;
      return;
    }
    if (this.#known.size >= KNOWN_MAX) {
      for (const oldest of [...this.#known.keys()].slice(0, KNOWN_MAX / 10)) this.#known.delete(oldest);
    }
    this.#known.set(digest, { subject, until });
  }

  remove(digest: string): void {
    this.#known.delete(digest);
  }
}
