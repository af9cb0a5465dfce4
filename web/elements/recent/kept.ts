/** Lists that this browser keeps for a user, the last entry first, until they sign out here. */
const PREFIX = 'ibid-recent';

const keyOf = (user: string, list: string) => `${PREFIX} ${user} ${list}`;

/** The entries of a list; none where storage is disabled or holds something else. */
export function readKept<T>(user: string, list: string, isEntry: (value: unknown) => value is T): T[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(user, list)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isEntry) : [];
  } catch {
    return [];
  }
}

/** Replaces a list, where the browser keeps something and has room. */
export function writeKept(user: string, list: string, entries: readonly unknown[]): void {
  try {
    localStorage.setItem(keyOf(user, list), JSON.stringify(entries));
  } catch {
    // The browser keeps nothing, or has no room.
  }
}

/** Forgets all lists of a user when they sign out on this page. */
export function forgetAtSignOut(user: string): void {
  document.querySelector('form[action="/sign-out"]')?.addEventListener('submit', () => forget(user));
}

function forget(user: string): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(keyOf(user, ''))) localStorage.removeItem(key);
  } catch {
    // Storage is disabled, so there is nothing.
  }
}
