import { openSizedCache } from '../../src/platform/core/sized-cache.ts';
import type { PageSurroundings, ReadPage } from '../../src/wiki/pages/schema.ts';
import { type Content, nothing } from '../html.ts';
import { renderTree, withCurrentPage } from '../tree.ts';
import type { Visit } from '../visit.ts';
import { encodePath, type WikiContext } from '../wiki-context.ts';

type Branches = PageSurroundings['branches'];

interface Answer {
  page: ReadPage;
  surroundings: PageSurroundings;
  tree: { tag: string; branches: Branches };
}

/** The tree around the pages of one branch, which those beside each other share. */
interface KnownTree {
  tag: string;
  branches: Branches;
  /** As HTML, with no page as the current one; "" until it is needed. */
  text: string;
  /** What addresses in `text` begin with. */
  root: string;
}

/**
 * Trees that were shown lately. Whether one is still what its reader would see now, the API says with each page by its tag, and under
 * the reader's permissions: nothing of it is shown before.
 */
const trees = openSizedCache<KnownTree>(8 * 2 ** 20);
/** About what an entry takes as a record and as HTML, beside its path and title. */
const BRANCH_BYTES = 600;

/** A page and what is shown around it. */
export interface PageView {
  page: ReadPage;
  /** Its branches are the whole tree, or without a tree those around the page. */
  surroundings: PageSurroundings;
  tree: Content;
}

/** Errors: Problem 404 where the reader sees no page at this path. */
export async function loadPageView(visit: Visit, context: WikiContext, path: string): Promise<PageView> {
  const address = `${context.api}/pages/view/${encodePath(path)}`;
  if (visit.isFragment) {
    const { page, surroundings } = await visit.api.get<Answer>(`${address}?branches=beside`);
    return { page, surroundings, tree: nothing };
  }
  const key = [context.api, context.can('pages:write'), path.slice(0, Math.max(path.lastIndexOf('/'), 0))].join(' ');
  const known = trees.get(key);
  const query = known ? `?${new URLSearchParams({ known_tree: known.tag })}` : '';
  const { page, surroundings, tree } = await visit.api.get<Answer>(address + query);
  const around = known?.tag === tree.tag ? known : keepTree(key, tree);
  return {
    page,
    surroundings: { ...surroundings, branches: joined(around.branches, surroundings.branches) },
    tree: treeOf(context, around, page, surroundings.branches),
  };
}

function keepTree(key: string, { tag, branches }: Answer['tree']): KnownTree {
  const tree: KnownTree = { tag, branches, text: '', root: '' };
  const bytes = branches.reduce((sum, { path, title }) => sum + BRANCH_BYTES + 4 * (path.length + title.length), 0);
  trees.set(key, tree, bytes);
  return tree;
}

function treeOf(context: WikiContext, tree: KnownTree, page: ReadPage, own: Branches): Content {
  const root = context.pageUrl();
  if (tree.root !== root) {
    tree.text = renderTree(context, tree.branches, '', page.parent_page_id).text;
    tree.root = root;
  }
  return (
    withCurrentPage(context, tree.text, page.page_id, own) ??
    renderTree(context, joined(tree.branches, own), page.page_id)
  );
}

/** Each page once, those of a branch in their order: a page that a long branch leaves out comes behind it. */
function joined(branches: Branches, own: Branches): Branches {
  const ids = new Set(branches.map(({ page_id }) => page_id));
  return [...branches, ...own.filter(({ page_id }) => !ids.has(page_id))];
}
