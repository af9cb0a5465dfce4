import { replaceTree } from '../tree.ts';
import { readWholePage } from './fetch-page.ts';

/** Elements around the editor that name the page. */
const PARTS = ['.crumbs', 'main > h1.sr-only', '.where-address'];

/**
 * Replaces the surroundings of the editor with their current state in the service: the tree, the breadcrumbs, the title
 * of the tab. Leaves the text, which is being edited, alone. Returns false if the service returned no tree.
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
