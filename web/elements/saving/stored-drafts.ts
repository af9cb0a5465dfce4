import type { PendingWrite } from './persistent-call.ts';

const NAME = 'ibid';
const STORE = 'drafts';
/** Longer than any browser delays writing `localStorage` to disk. */
const MARK_MS = 24 * 3_600_000;

/** The user's choice in a place that they and another user both changed. */
export interface KeptChoice {
  mine: string;
  theirs: string;
  choice: 'mine' | 'theirs' | 'both' | 'edit' | undefined;
  edited: string;
}

/** An unsaved text in the browser's storage. It survives a reload, a crash and the end of the session. */
export interface Draft {
  title: string;
  markdown: string;
  /** "" for a page that is not created yet. */
  base_revision: string;
  parent?: string;
  /** When it was stored, in milliseconds since 1970. */
  at: number;
  /** A write that has not been answered, and may have been carried out. */
  pending?: PendingWrite;
  choices?: KeptChoice[];
  /** The user continued another draft instead. */
  isAside?: true;
}

interface Deleted {
  at: number;
}

let opened: Promise<IDBDatabase | undefined> | undefined;

/**
 * Opens the browser's database. Resolves with undefined if storage is disabled or missing, as in private windows of
 * some browsers.
 */
function open(): Promise<IDBDatabase | undefined> {
  opened ??= new Promise((resolve) => {
    try {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(undefined);
    } catch {
      // Storage is disabled.
      resolve(undefined);
    }
  });
  return opened;
}

/** Returns whether the transaction completed. Transactions run in the order of the calls. */
async function write(work: (drafts: IDBObjectStore) => void): Promise<boolean> {
  const database = await open();
  return new Promise((resolve) => {
    try {
      const transaction = database?.transaction(STORE, 'readwrite');
      if (!transaction) return resolve(false);
      transaction.oncomplete = () => resolve(true);
      transaction.onabort = () => resolve(false);
      work(transaction.objectStore(STORE));
    } catch {
      // The browser closed the database, for example because the user cleared its data.
      resolve(false);
    }
  });
}

/**
 * Stores a draft in IndexedDB. Browsers delay writing `localStorage` to disk for seconds, after many writes for a
 * minute, so it survives a crash of the tab but not of the browser. IndexedDB passes a write to the operating system at
 * once.
 */
export function putDraft(key: string, draft: Draft): Promise<boolean> {
  return write((drafts) => drafts.put(draft, key));
}

/** Marks a draft as deleted: after a crash of the browser, `localStorage` may contain it again. */
export function dropDraft(key: string): Promise<boolean> {
  return write((drafts) => drafts.put({ at: Date.now() } satisfies Deleted, key));
}

/** Returns the drafts whose keys have this prefix, and the marks of drafts deleted within the last day. */
export async function getDrafts(prefix: string): Promise<Map<string, Draft | Deleted>> {
  const found = new Map<string, Draft | Deleted>();
  await write((drafts) => {
    const request = drafts.openCursor(IDBKeyRange.bound(prefix, `${prefix}\uffff`));
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return;
      const value: Draft | Deleted = cursor.value;
      if ('markdown' in value || value.at > Date.now() - MARK_MS) found.set(String(cursor.key), value);
      else cursor.delete();
      cursor.continue();
    };
  });
  return found;
}
