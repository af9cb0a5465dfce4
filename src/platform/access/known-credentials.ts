import { makeRoom } from '../core/make-room.ts';
import type { CredentialOwner } from './credential-owner.ts';

/** How long an accepted credential is let through although its address has reached the limit. */
const KNOWN_TTL_MS = 5 * 60_000;
const KNOWN_MAX = 20_000;

/** Maximum number of workspaces remembered per credential, and of places remembered in total. */
const WORKSPACES_MAX = 32;
const PLACES_MAX = 20_000;

/** A credential that was accepted recently. */
export class KnownCredential {
  readonly subject: string;
  until: number;
  /** Its user, once looked up. */
  user_id: string | undefined;
  readonly #workspaces = new Set<string>();
  readonly #places: Map<string, string>;
  readonly #lookups = new Map<string, Promise<CredentialOwner>>();

  /** `places` maps the id of a workspace or wiki in a path to its workspace; shared by all credentials. */
  constructor(subject: string, until: number, places: Map<string, string>) {
    this.subject = subject;
    this.until = until;
    this.#places = places;
  }

  /** Returns a running lookup of the same place, or starts one. */
  shareLookup(place: string | undefined, lookUp: () => Promise<CredentialOwner>): Promise<CredentialOwner> {
    const key = place ?? '';
    const running = this.#lookups.get(key);
    if (running) return running;
    const lookup = lookUp().finally(() => this.#lookups.delete(key));
    this.#lookups.set(key, lookup);
    return lookup;
  }

  workspaceAt(place: string | undefined): string | undefined {
    const workspace_id = place === undefined ? undefined : this.#places.get(place);
    return workspace_id !== undefined && this.#workspaces.has(workspace_id) ? workspace_id : undefined;
  }

  /** `workspace_id` is undefined if the credential has no access to the place. */
  setWorkspace(place: string, workspace_id: string | undefined): void {
    if (workspace_id === undefined) {
      this.#workspaces.delete(this.#places.get(place) ?? '');
      return;
    }
    if (this.#places.size >= PLACES_MAX) this.#places.clear();
    if (this.#workspaces.size >= WORKSPACES_MAX) this.#workspaces.clear();
    this.#places.set(place, workspace_id);
    this.#workspaces.add(workspace_id);
  }
}

/** Credentials accepted recently, by the SHA-256 of the token. */
export class KnownCredentials {
  readonly #known = new Map<string, KnownCredential>();
  readonly #places = new Map<string, string>();

  /** Returns the credential; undefined if it was not accepted recently. */
  find(digest: string): KnownCredential | undefined {
    const entry = this.#known.get(digest);
    if (entry === undefined) return undefined;
    if (entry.until > performance.now()) return entry;
    this.#known.delete(digest);
    return undefined;
  }

  remember(digest: string, subject: string): KnownCredential {
    const until = performance.now() + KNOWN_TTL_MS;
    const entry = this.#known.get(digest);
    if (entry) {
      entry.until = until;
      return entry;
    }
    makeRoom(this.#known, KNOWN_MAX);
    const added = new KnownCredential(subject, until, this.#places);
    this.#known.set(digest, added);
    return added;
  }

  remove(digest: string): void {
    this.#known.delete(digest);
  }
}
