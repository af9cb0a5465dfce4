import { FLASH_KEY, type WaitingFlash } from '../organize/flash-key.ts';
import type { EditorForm } from './editor-form.ts';

/** Parameter in the address of a new page: the id of the draft to open. */
export const DRAFT_PARAMETER = 'draft';

/**
 * When the user leaves the editor by a link of the tree, the next page says that the changes are kept and links to
 * them.
 */
export function sayUnsaved({ page, title: { value: title } }: EditorForm, draft: string): void {
  const text = page === '' ? 'Your new page is not saved yet.' : `Your changes to “${title}” are not saved yet.`;
  const url = new URL(location.href);
  // All new pages share one address, so name the draft in it.
  if (page === '') url.searchParams.set(DRAFT_PARAMETER, draft);
  const link = { href: url.pathname + url.search, name: 'Continue editing' };
  const flash: WaitingFlash = { text, link };
  try {
    // Do not replace a message about an action in the tree.
    if (sessionStorage.getItem(FLASH_KEY) === null) sessionStorage.setItem(FLASH_KEY, JSON.stringify(flash));
  } catch {
    // Storage is disabled. The changes are offered when the page is edited again.
  }
}
