/** Prefix of lists that this browser stores for a user, latest entry first, until the user signs out here. */
const PREFIX = 'ibid-recent';

const keyOf = (user: string, list: string) => `${PREFIX} ${user} ${list}`;

/** Returns the entries of a list; empty if storage is disabled or holds something else. */
export function readKept<T>(user: string, list: string, isEntry: (value: unknown) => value is T): T[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(user, list)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isEntry) : [];
  } catch {
    return [];
  }
}

/** Replaces a list, if storage is enabled and has room. */
export function writeKept(user: string, list: string, entries: readonly unknown[]): void {
  try {
    localStorage.setItem(keyOf(user, list), JSON.stringify(entries));
  } catch {
    // Storage is disabled or full.
  }
}

/** Deletes all lists of a user when they sign out on this page. */
export function forgetAtSignOut(user: string): void {
  document.querySelector('form[action="/sign-out"]')?.addEventListener('submit', () => forget(user));
}

function forget(user: string): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(keyOf(user, ''))) localStorage.removeItem(key);
  } catch {
    // Storage is disabled, so no lists are stored.
  }
}
