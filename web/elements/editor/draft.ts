/** What somebody wrote and has not saved, as this browser keeps it: it survives a reload, a crash and a lost session. */
export interface Draft {
  title: string;
  markdown: string;
  base_revision: string;
  /** When it was kept, in milliseconds. */
  at: number;
}

const SUBMITTED_KEY = 'ibid-sent';

export function storeDraft(key: string, draft: Draft): boolean {
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

export function deleteDraft(key: string): void {
  localStorage.removeItem(key);
}

/** The form is on its way: where the next page is no editor again, what was sent is saved. */
export function markSubmitted(key: string): void {
  sessionStorage.setItem(SUBMITTED_KEY, key);
}

/** Called on every page: a draft that has become a page is kept no longer. */
export function deleteSavedDraft(): void {
  const key = sessionStorage.getItem(SUBMITTED_KEY);
  if (key === null) return;
  sessionStorage.removeItem(SUBMITTED_KEY);
  if (document.body.classList.contains('wiki')) deleteDraft(key);
}
