import type { Branch } from './branch.ts';

/** How long the pages of a branch are shown from the cache. */
const FRESH_MS = 60_000;
const BRANCHES_MAX = 40;

interface Remembered {
  open: string[];
  scroll: number;
  branches: Record<string, { at: number; below: Branch[] }>;
}

/** Remembers the open branches of a wiki's tree in this tab, so that the next page shows the same tree. */
export function openTreeMemory(root: string) {
  const key = `ibid-tree ${root}`;
  const state = read(key);
  const write = () => {
    try {
      sessionStorage.setItem(key, JSON.stringify(state));
    } catch {
      // Storage is disabled or full: the tree opens as the server sent it.
    }
  };
  return {
    open: state.open,
    scroll: state.scroll,
    /** Returns the direct subpages of a page if they are still fresh. */
    branches: (page_id: string) => {
      const found = state.branches[page_id];
      return found && Date.now() - found.at < FRESH_MS ? found.below : undefined;
    },
    keepBranches(page_id: string, below: Branch[]): void {
      state.branches[page_id] = { at: Date.now(), below };
    },
    forgetBranches(): void {
      state.branches = {};
      write();
    },
    keep(open: string[], scroll: number): void {
      state.open = open.slice(0, BRANCHES_MAX);
      state.scroll = scroll;
      write();
    },
  };
}

function read(key: string): Remembered {
  const empty = { open: [], scroll: 0, branches: {} };
  try {
    return { ...empty, ...JSON.parse(sessionStorage.getItem(key) ?? '{}') };
  } catch {
    return empty;
  }
}
