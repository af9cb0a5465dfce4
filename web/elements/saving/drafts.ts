import { type DraftFields, storeWithText } from './ask-draft-worker.ts';
import { type Draft, dropDraft, getDrafts, putDraft } from './stored-drafts.ts';

/** How long a database that does not answer may keep an editor from going on with its draft. */
const RECOVERY_MS = 1_000;

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

/** The last draft that the worker stores: what is stored or deleted here meanwhile comes after it. */
let inWorker: Promise<unknown> = Promise.resolve();

/**
 * Stores a long text while it is typed: by a worker and in IndexedDB alone, because `localStorage` keeps the page waiting for as long
 * as a key may take. `parts`: of the text. Whether it was stored.
 */
export async function storeLongDraft(key: string, fields: DraftFields, parts: readonly string[]): Promise<boolean> {
  const stored = storeWithText(key, fields, parts);
  inWorker = stored;
  if (await stored) return true;
  const draft = { ...fields, markdown: parts.join('') };
  return (await putDraft(key, draft)) || storeLocally(key, draft);
}

/** Whether it was stored so that it survives a crash of the browser: storage may be full or disabled. */
export async function storeDraft(key: string, draft: Draft): Promise<boolean> {
  // What is stored when the page is left has no time for more.
  const isStored = storeLocally(key, draft);
  await inWorker;
  const survives = await putDraft(key, draft);
  return isStored || survives;
}

function storeLocally(key: string, draft: Draft): boolean {
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

/** Brings back what a crash of the browser took from `localStorage`. It gives up after a second. */
export async function recoverDrafts(wiki: string, page: string): Promise<void> {
  const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, RECOVERY_MS, undefined));
  const found = await Promise.race([getDrafts(keyPrefix(wiki, page)), timeout]);
  for (const [key, draft] of found ?? []) {
    const stored = readDraft(key);
    if (stored && stored.at >= draft.at) continue;
    if ('markdown' in draft) storeLocally(key, draft);
    else deleteLocally(key);
  }
}

export function deleteDraft(key: string): void {
  deleteLocally(key);
  void inWorker.then(() => dropDraft(key));
}

function deleteLocally(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Storage is disabled, so there is none.
  }
}
