import type { PendingWrite } from './persistent-call.ts';

/** An unsaved text in the browser's storage: it survives a reload, a crash and the end of the session. */
export interface Draft {
  title: string;
  markdown: string;
  /** "" for a page that is not created yet. */
  base_revision: string;
  /** The path of the parent page. */
  parent?: string;
  /** When it was stored, in milliseconds since 1970. */
  at: number;
  /** A write whose answer has not come: it may have been done. */
  pending?: PendingWrite;
}

/**
 * The key of a text that is being written: each tab, and each new page, has its own, so none replaces another's. `page`:
 * the id of the page; "" for a new one.
 */
export function draftKey(wiki: string, page: string, id: string): string {
  return `${keyPrefix(wiki, page)}${id}`;
}

function keyPrefix(wiki: string, page: string): string {
  return `ibid-draft ${wiki} ${page || 'new'} `;
}

/** Whether it was stored: storage may be full or disabled. */
export function storeDraft(key: string, draft: Draft): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    // The editor tells the user.
    return false;
  }
}

export function readDraft(key: string): Draft | undefined {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    // Storage is disabled, or holds something else under this key.
    return undefined;
  }
}

/** The drafts of a page, or of the new pages of a wiki, the latest first. */
export function listDrafts(wiki: string, page: string): { key: string; draft: Draft }[] {
  const prefix = keyPrefix(wiki, page);
  let keys: string[];
  try {
    keys = Object.keys(localStorage);
  } catch {
    // Storage is disabled.
    return [];
  }
  return keys
    .filter((key) => key.startsWith(prefix) || key === prefix.trimEnd())
    .flatMap((key) => {
      const draft = readDraft(key);
      return draft ? [{ key, draft }] : [];
    })
    .sort((one, other) => other.draft.at - one.draft.at);
}

export function deleteDraft(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Storage is disabled, so there is none.
  }
}
