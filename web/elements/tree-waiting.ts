import { openTreeMemory } from './tree-memory.ts';

/** Shows the tree after this time even if the scripts have not loaded. */
const LONGEST_MS = 5_000;

/**
 * Runs before the first paint. Reopening the branches that were open in this tab would move the rows below them. The
 * tree keeps its space and stays hidden until the branches are open; see tree.ts.
 */
const [, workspace, wiki] = location.pathname.split('/');
const { classList } = document.documentElement;
if (!classList.contains('tree-there') && openTreeMemory(`/${workspace}/${wiki}`).open.length > 0) {
  classList.add('tree-waits');
  setTimeout(() => classList.remove('tree-waits'), LONGEST_MS);
}
