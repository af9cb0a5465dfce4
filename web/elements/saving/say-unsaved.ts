import { FLASH_KEY, type WaitingFlash } from '../organize/flash-key.ts';
import type { EditorForm } from './editor-form.ts';

/** In the address of a new page: the draft that is to be in the editor. */
export const DRAFT_PARAMETER = 'draft';

/** Who leaves the editor by a link of the tree reads on the next page that the changes are kept, and how to go on with them. */
export function sayUnsaved({ page, title: { value: title } }: EditorForm, draft: string): void {
  const text = page === '' ? 'Your new page is not saved yet.' : `Your changes to “${title}” are not saved yet.`;
  const url = new URL(location.href);
  // The address of new pages is that of all of them.
  if (page === '') url.searchParams.set(DRAFT_PARAMETER, draft);
  const link = { href: url.pathname + url.search, name: 'Continue editing' };
  const flash: WaitingFlash = { text, link };
  try {
    // What was done in the tree is said first.
    if (sessionStorage.getItem(FLASH_KEY) === null) sessionStorage.setItem(FLASH_KEY, JSON.stringify(flash));
  } catch {
    // The browser keeps nothing: the changes are offered where the page is edited again.
  }
}
