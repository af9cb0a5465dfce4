import type { Api } from './api.ts';
import { BRANCH_PAGE_SIZE, type Branch } from './elements/branch.ts';
import { type Content, Html, html, nothing } from './html.ts';
import { keepBranches, knownBranches, loadUnlessKnown } from './trees/known-branches.ts';
import type { WikiContext } from './wiki-context.ts';

/** Loads the tree around a page. The branches at the root are the same array as long as they have not changed. */
export function loadBranches(api: Api, context: WikiContext, page_id = ''): Promise<readonly Branch[]> {
  const path = branchesPath(context, page_id);
  return page_id === '' ? loadUnlessKnown(api, path, readerOf(context)) : api.get(path);
}

/** Readers with write permission also see drafts, so the cache distinguishes them. */
function readerOf(context: WikiContext): string {
  return String(context.can('pages:write'));
}

/**
 * The same for a response that contains the branches at the root together with other data. The response omits them if
 * the tag in the request still matches.
 */
export function rootIn(context: WikiContext) {
  const path = branchesPath(context, '');
  const last = knownBranches(path, readerOf(context));
  return {
    /** The tag of the cached branches; "" without any. */
    known_tree: last?.etag.replaceAll('"', '') ?? '',
    branchesOf({ tag, branches }: { tag: string; branches: readonly Branch[] }): readonly Branch[] {
      const etag = `"${tag}"`;
      return last?.etag === etag ? last.branches : keepBranches(path, readerOf(context), etag, branches);
    },
  };
}

/** Returns the API path of the tree around a page; its further parts are the pages directly below it. */
export function branchesPath(context: WikiContext, page_id: string): string {
  return `${context.api}/branches?${new URLSearchParams({ page_id, limit: String(BRANCH_PAGE_SIZE) })}`;
}

/** Rendered trees without a current page, with the address of the wiki that they were rendered for. */
const closedTrees = new WeakMap<readonly Branch[], { root: string; tree: Html }>();

/** Renders the tree, open down to `openTo`. Other branches open by a script, or by a link to their list of pages. */
export function renderTree(context: WikiContext, branches: readonly Branch[], current = '', openTo = current): Html {
  if (branches.length === 0) {
    return html`<p class="empty">No pages yet.${context.can('pages:write') && html` <a href="${context.actionUrl('new')}">Write one</a>${context.can('uploads:create') && html` or <a href="${context.actionUrl('upload')}">upload files</a>`}.`}</p>`;
  }
  const known = openTo === '' ? closedTrees.get(branches) : undefined;
  if (known?.root === context.pageUrl()) return known.tree;
  const parentOf = parentsIn(branches);
  const below = Map.groupBy(branches, (branch) => parentOf(branch)?.page_id ?? '');
  const byId = new Map(branches.map((branch) => [branch.page_id, branch]));
  const inTrail = new Set(trailTo(branches, openTo).map(({ page_id }) => page_id));
  const level = (parent: string): Content =>
    renderLevel(context, byId.get(parent)?.path ?? '', below.get(parent) ?? [], (branch) =>
      renderEntry(context, branch, {
        isCurrent: branch.page_id === current,
        level: inTrail.has(branch.page_id) && below.has(branch.page_id) && level(branch.page_id),
      }),
    );
  const tree = html`<div class="tree-roots" data-root="${context.pageUrl()}" data-api="${context.api}">${level('')}</div>`;
  if (openTo === '') closedTrees.set(branches, { root: context.pageUrl(), tree });
  return tree;
}

function renderLevel(
  context: WikiContext,
  path: string,
  branches: readonly Branch[],
  entry: (branch: Branch) => Content,
): Content {
  if (branches.length === 0) return nothing;
  return html`<ul>${branches.map(entry)}${
    branches.length >= BRANCH_PAGE_SIZE &&
    html`<li class="more"><a href="${context.actionUrl('pages', path)}">All pages here…</a></li>`
  }</ul>`;
}

interface EntryState {
  isCurrent: boolean;
  /** The rendered pages below it if it is open. */
  level: Content;
}

function renderEntry(context: WikiContext, branch: Branch, { isCurrent, level }: EntryState): Html {
  const isOpen = level !== false;
  return html`<li${branch.has_children && html` data-page="${branch.page_id}"`}${isOpen && html` class="open"`}>
      <span class="row">${
        branch.has_children
          ? html`<a class="twist" href="${context.actionUrl('pages', branch.path)}" aria-label="Pages below ${branch.title}"></a>`
          : html`<span class="twist"></span>`
      }<a class="leaf" href="${context.pageUrl(branch.path)}" title="${branch.title}"${isCurrent && html` aria-current="page"`}>${branch.title}</a>${
        branch.status !== 'published' && html`<span class="tag">${branch.status}</span>`
      }</span>${level}</li>`;
}

/**
 * Marks a page as current in the rendered `tree` by replacing its entry. `branches` are the page and its direct
 * subpages. Returns undefined if `tree` lacks the entry because its branch is too long.
 */
export function withCurrentPage(
  context: WikiContext,
  tree: string,
  page_id: string,
  branches: readonly Branch[],
): Html | undefined {
  const page = branches.find((branch) => branch.page_id === page_id);
  if (!page) return undefined;
  const children = branches.filter(({ parent_page_id }) => parent_page_id === page_id);
  const closed = renderEntry(context, page, { isCurrent: false, level: false }).text;
  const at = tree.indexOf(closed);
  if (at < 0) return undefined;
  const level =
    children.length > 0 &&
    renderLevel(context, page.path, children, (branch) =>
      renderEntry(context, branch, { isCurrent: false, level: false }),
    );
  const current = renderEntry(context, page, { isCurrent: true, level });
  return new Html(tree.slice(0, at) + current.text + tree.slice(at + closed.length));
}

/** Returns a function that finds the parent of a page in a list: the nearest ancestor that the user can see. */
function parentsIn(branches: readonly Branch[]): (branch: Branch) => Branch | undefined {
  const byPath = new Map(branches.map((branch) => [branch.path, branch]));
  return ({ path }) => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const parent = byPath.get(path.slice(0, at));
      if (parent) return parent;
    }
    return undefined;
  };
}

/** Returns a page and its ancestors that the user can see, from the root down. */
export function trailTo(branches: readonly Branch[], page_id: string): Branch[] {
  const parentOf = parentsIn(branches);
  const way: Branch[] = [];
  let at = branches.find((branch) => branch.page_id === page_id);
  for (; at; at = parentOf(at)) way.unshift(at);
  return way;
}

/** Maximum number of steps that fit in a window, each cut to at least its first letter. */
const STEPS_MAX = 6;

/** Renders the wiki and the ancestors of a page in one line; in a narrow window the titles between are cut. */
export function breadcrumbs(context: WikiContext, way: readonly { path: string; title: string }[]): Content {
  const link = ({ path, title }: { path: string; title: string }) =>
    html`<li>${path === '' ? html`<span>${title}</span>` : html`<a href="${context.pageUrl(path)}" title="${title}">${title}</a>`}</li>`;
  const folded = way.length > STEPS_MAX ? way.slice(1, -1) : [];
  const shown = folded.length > 0 ? [way[0], way.at(-1)] : way;
  const [first, ...rest] = shown.flatMap((step) => step ?? []).map(link);
  return html`<nav class="crumbs" aria-label="Breadcrumbs"><ol>
    <li><a href="${context.pageUrl()}">${context.wiki.title}</a></li>${first ?? nothing}
    ${folded.length > 0 && html`<li><details class="menu start"><summary aria-label="${folded.length} more pages">…</summary><ul class="menu-box">${folded.map(link)}</ul></details></li>`}${rest}
  </ol></nav>`;
}
