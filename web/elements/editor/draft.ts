/** An unsaved text in the browser's storage: it survives a reload, a crash and the end of the session. */
export interface Draft {
  title: string;
  markdown: string;
  base_revision: string;
  /** When it was stored, in milliseconds since 1970. */
  at: number;
}

const SUBMITTED_KEY = 'ibid-sent';

export function storeDraft(key: string, draft: Draft): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    // Storage is full or disabled; the editor tells the user.
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

export function deleteDraft(key: string): void {
  localStorage.removeItem(key);
}

/** Notes that the form was submitted: if the next page is not the editor again, the text is saved. */
export function markSubmitted(key: string): void {
  sessionStorage.setItem(SUBMITTED_KEY, key);
}

/** Deletes the draft whose form was submitted, if it was saved. Called on every page. */
export function deleteSavedDraft(): void {
  const key = sessionStorage.getItem(SUBMITTED_KEY);
  if (key === null) return;
  sessionStorage.removeItem(SUBMITTED_KEY);
  if (document.body.classList.contains('wiki')) deleteDraft(key);
}
