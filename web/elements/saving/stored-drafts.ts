import type { PendingWrite } from './persistent-call.ts';

const NAME = 'ibid';
const STORE = 'drafts';
/** For longer than any browser puts off what comes into `localStorage`. */
const MARK_MS = 24 * 3_600_000;

/** What the user chose where they and another user changed the same place. */
export interface KeptChoice {
  mine: string;
  theirs: string;
  choice: 'mine' | 'theirs' | 'both' | 'edit' | undefined;
  edited: string;
}

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
  choices?: KeptChoice[];
  /** The user went on with another draft instead. */
  isAside?: true;
}

interface Deleted {
  at: number;
}

let opened: Promise<IDBDatabase | undefined> | undefined;

/** The database of the browser; undefined where storage is disabled, or a browser has none in its private windows. */
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

/** Whether the work on the drafts was written to the end. What is asked later is done later. */
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
      // The browser closed the database, as when its data are cleared.
      resolve(false);
    }
  });
}

/**
 * Drafts in IndexedDB. Browsers put off for seconds, after many writes for a minute, what comes into `localStorage`: it
 * survives a crash of the tab, not one of the browser. What is written here is with the operating system at once.
 */
export function putDraft(key: string, draft: Draft): Promise<boolean> {
  return write((drafts) => drafts.put(draft, key));
}

/** Leaves a mark that it is deleted: after a crash of the browser `localStorage` may have it again. */
export function dropDraft(key: string): Promise<boolean> {
  return write((drafts) => drafts.put({ at: Date.now() } satisfies Deleted, key));
}

/** The drafts whose keys begin with this, and marks of those that were deleted today. */
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
