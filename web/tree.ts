import type { Api } from './api.ts';
import { type Branch, SHOWN } from './elements/branch.ts';
import { type Content, html, nothing } from './html.ts';
import { icon } from './icons.ts';
import type { Place } from './place.ts';

export function branchesAround(api: Api, place: Place, page_id = ''): Promise<Branch[]> {
  return api.get(branchesPath(place, page_id));
}

/** The list of what is around a page; what follows are the pages right below it. */
export function branchesPath(place: Place, page_id: string): string {
  return `${place.api}/branches?${new URLSearchParams({ page_id, limit: String(SHOWN) })}`;
}

/** The tree as far as it is open around a page. Branches open with a script, and without one as one goes there. */
export function treeOf(place: Place, branches: readonly Branch[], current = ''): Content {
  if (branches.length === 0) {
    return html`<p class="empty">No pages yet.${place.may('pages:write') && html` <a href="${place.to('new')}">Write one</a>${place.may('uploads:create') && html` or <a href="${place.to('upload')}">upload files</a>`}.`}</p>`;
  }
  const parentOf = parentsIn(branches);
  const below = Map.groupBy(branches, (branch) => parentOf(branch)?.page_id ?? '');
  const byId = new Map(branches.map((branch) => [branch.page_id, branch]));
  const way = new Set(wayTo(branches, current).map(({ page_id }) => page_id));
  const level = (parent: string): Content => {
    const entries = below.get(parent);
    if (!entries) return nothing;
    const path = byId.get(parent)?.path ?? '';
    return html`<ul>${entries.map((branch) => entry(branch))}${
      entries.length >= SHOWN && html`<li class="more"><a href="${place.to('pages', path)}">All pages here…</a></li>`
    }</ul>`;
  };
  const entry = (branch: Branch): Content => {
    const isOpen = way.has(branch.page_id) && below.has(branch.page_id);
    const here = branch.page_id === current;
    return html`<li${branch.has_children && html` data-page="${branch.page_id}"`}${isOpen && html` class="open"`}>
      <span class="row">${
        branch.has_children
          ? html`<a class="twist" href="${place.to('pages', branch.path)}" aria-label="Pages below ${branch.title}">${icon('chevron')}</a>`
          : html`<span class="twist"></span>`
      }<a class="leaf" href="${place.at(branch.path)}"${here && html` aria-current="page"`}>${branch.title}</a>${
        branch.status !== 'published' && html`<span class="tag">${branch.status}</span>`
      }</span>${isOpen && level(branch.page_id)}</li>`;
  };
  return html`<div class="tree-roots" data-root="${place.at()}" data-api="${place.api}">${level('')}</div>`;
}

/** The page that each page of a list stands below: the nearest one above it that the reader may see. */
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

/** A page and the pages above it that the reader may see, from the root on. */
export function wayTo(branches: readonly Branch[], page_id: string): Branch[] {
  const parentOf = parentsIn(branches);
  const way: Branch[] = [];
  let at = branches.find((branch) => branch.page_id === page_id);
  for (; at; at = parentOf(at)) way.unshift(at);
  return way;
}

export function breadcrumbs(place: Place, way: readonly { path: string; title: string }[]): Content {
  return html`<nav class="crumbs" aria-label="Where this is"><ol>
    <li><a href="${place.at()}">${place.wiki.title}</a></li>
    ${way.map(({ path, title }, i) => html`<li>${i === way.length - 1 ? html`<span>${title}</span>` : html`<a href="${place.at(path)}">${title}</a>`}</li>`)}
  </ol></nav>`;
}
