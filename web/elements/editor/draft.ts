/** What somebody wrote and has not saved, as this browser keeps it: it survives a reload, a crash and a lost session. */
export interface Draft {
  title: string;
  markdown: string;
  base_revision: string;
  /** When it was kept, in milliseconds. */
  at: number;
}

const SENT = 'ibid-sent';

export function keepDraft(key: string, draft: Draft): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    // The browser keeps nothing, or nothing more; whoever writes is told.
    return false;
  }
}

export function readDraft(key: string): Draft | undefined {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    // The browser keeps nothing, or something else wrote there: then nothing was kept.
    return undefined;
  }
}

export function dropDraft(key: string): void {
  localStorage.removeItem(key);
}

/** The form is on its way: where the next page is no editor again, what was sent is saved. */
export function markSent(key: string): void {
  sessionStorage.setItem(SENT, key);
}

/** Called on every page: a draft that has become a page is kept no longer. */
export function dropWhatWasSaved(): void {
  const key = sessionStorage.getItem(SENT);
  if (key === null) return;
  sessionStorage.removeItem(SENT);
  if (document.body.classList.contains('wiki')) dropDraft(key);
}
