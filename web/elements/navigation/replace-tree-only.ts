import { replaceTree } from '../tree.ts';
import { readWholePage } from './fetch-page.ts';

/** Beside the editor the tree alone is replaced by that of the service: the text is being written. False where it has none. */
export async function replaceTreeOnly(): Promise<boolean> {
  const { root = '', page = '' } = document.querySelector<HTMLElement>('ibid-editor')?.dataset ?? {};
  const address = page === '' ? location.href : `${root}/-/edit?page=${page}`;
  const answer = await readWholePage(new URL(address, location.href)).catch(() => undefined);
  const next = answer && new DOMParser().parseFromString(answer.text, 'text/html').querySelector('.tree-roots');
  if (next) await replaceTree(next);
  return next !== null && next !== undefined;
}
