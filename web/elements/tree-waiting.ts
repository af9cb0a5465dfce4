import { openTreeMemory } from './tree-memory.ts';

/** The tree is shown without them then, if the scripts have not come. */
const LONGEST_MS = 5_000;

/**
 * Loaded before anything is painted: where branches were open in this tab, the rows below them would move down as those open. The
 * tree has its place and is seen when they are open; see tree.ts.
 */
const [, workspace, wiki] = location.pathname.split('/');
const { classList } = document.documentElement;
if (!classList.contains('tree-there') && openTreeMemory(`/${workspace}/${wiki}`).open.length > 0) {
  classList.add('tree-waits');
  setTimeout(() => classList.remove('tree-waits'), LONGEST_MS);
}
