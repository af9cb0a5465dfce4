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

/** The tree around the pages of one branch. Siblings share it. */
interface KnownTree {
  tag: string;
  branches: Branches;
  /** Rendered HTML without a current page; "" until it is needed. */
  text: string;
  /** The address of the wiki that links in `text` begin with. */
  root: string;
}

/**
 * Cache of recently shown trees. With each page the API validates the tag under the reader's permissions; the tree is
 * not shown before that.
 */
const trees = openSizedCache<KnownTree>(8 * 2 ** 20);
/** Approximate bytes of an entry as a record and as HTML, without its path and title. */
const BRANCH_BYTES = 600;

/** A page and the surroundings to show with it. */
export interface PageView {
  page: ReadPage;
  /** Its branches are the whole tree, or without a tree the branches around the page. */
  surroundings: PageSurroundings;
  tree: Content;
}

/** Loads a page with its surroundings and its tree. Throws Problem 404 if the reader sees no page at this path. */
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

/** Joins two lists of branches without duplicates, in order. A page that a long branch omits is appended. */
function joined(branches: Branches, own: Branches): Branches {
  const ids = new Set(branches.map(({ page_id }) => page_id));
  return [...branches, ...own.filter(({ page_id }) => !ids.has(page_id))];
}
