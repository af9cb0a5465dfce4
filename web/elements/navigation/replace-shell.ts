import { replaceTree } from '../tree.ts';
import { readWholePage } from './fetch-page.ts';

/** What says around the text of the editor which page it is. */
const PARTS = ['.crumbs', 'main > h1.sr-only', '.where-address'];

/**
 * Replaces what surrounds the editor by what the service has now: the tree, the breadcrumbs, the title of the tab. The text is being
 * written and stays. False where the service has no tree.
 */
export async function replaceShell(): Promise<boolean> {
  const { root = '', page = '' } = document.querySelector<HTMLElement>('ibid-editor')?.dataset ?? {};
  const address = page === '' ? location.href : `${root}/-/edit?page=${page}`;
  const answer = await readWholePage(new URL(address, location.href)).catch(() => undefined);
  const next = answer && new DOMParser().parseFromString(answer.text, 'text/html');
  const tree = next?.querySelector('.tree-roots');
  if (!next || !tree) return false;
  document.title = next.title;
  for (const part of PARTS) {
    const now = next.querySelector(part);
    if (now) document.querySelector(part)?.replaceWith(now);
  }
  await replaceTree(tree);
  return true;
}
