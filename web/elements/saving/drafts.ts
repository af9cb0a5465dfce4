import { type DraftFields, storeWithText } from './ask-draft-worker.ts';
import { type Draft, dropDraft, getDrafts, putDraft } from './stored-drafts.ts';

/** How long an editor waits for an unresponsive database before it continues without recovered drafts. */
const RECOVERY_MS = 1_000;

/**
 * Returns the storage key of a text. Each tab and each new page has its own key, so none replaces another's draft.
 * `page`: the id of the page, or "" for a new page.
 */
export function draftKey(wiki: string, page: string, id: string): string {
  return `${keyPrefix(wiki, page)}${id}`;
}

function keyPrefix(wiki: string, page: string): string {
  return `ibid-draft ${wiki} ${page || 'new'} `;
}

/** The worker's last draft write. Later writes and deletions wait for it, so that it cannot overwrite them. */
let inWorker: Promise<unknown> = Promise.resolve();

/**
 * Stores a long text during typing. A worker writes it to IndexedDB alone, because writing it to `localStorage` would
 * block the page for as long as a keystroke may take. `parts`: the parts of the text. Returns whether it was stored.
 */
export async function storeLongDraft(key: string, fields: DraftFields, parts: readonly string[]): Promise<boolean> {
  const stored = storeWithText(key, fields, parts);
  inWorker = stored;
  if (await stored) return true;
  const draft = { ...fields, markdown: parts.join('') };
  return (await putDraft(key, draft)) || storeLocally(key, draft);
}

/**
 * Stores a draft. Returns false if it would not survive a crash of the browser, because storage is full or disabled.
 */
export async function storeDraft(key: string, draft: Draft): Promise<boolean> {
  // Write synchronously first: a page that is being left has no time for the rest.
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
    // Storage is disabled, or this key holds something else.
    return undefined;
  }
}

/** Lists the drafts of a page, or of the new pages of a wiki, latest first. */
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

/** Restores drafts that a crash of the browser removed from `localStorage`. Gives up after a second. */
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
    // Storage is disabled, so no draft is stored.
  }
}
