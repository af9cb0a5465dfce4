import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { callApi, listAll } from '../call-api.ts';
import { renameHeading } from '../saving/rename-heading.ts';
import { positionsFor, type Sibling } from './positions.ts';

/** The address of the wiki, its API path, and whether the user has a permission. */
export interface TreeContext {
  root: string;
  api: string;
  can(permission: string): boolean;
}

/** The tree of the document. Read at each use, because the document may become another page. */
export function treeContext(): TreeContext {
  const { root = '', api = '' } = document.querySelector<HTMLElement>('.tree-roots')?.dataset ?? {};
  const permissions = document.querySelector<HTMLElement>('ibid-palette')?.dataset.can ?? '';
  return { root, api, can: (permission) => permissions.split(' ').includes(permission) };
}

/** The address of the page that is being edited; undefined where none is. */
export function editedAddress(): string | undefined {
  const { root, page, path } = document.querySelector<HTMLElement>('ibid-editor')?.dataset ?? {};
  return page ? `${root}/${path}` : undefined;
}

/** A row of the tree and the link to its page. */
export interface Row {
  row: HTMLElement;
  leaf: HTMLAnchorElement;
  title: string;
}

/** The row of the tree that an element is in or is; undefined outside of them. */
export function rowAt(target: EventTarget | null): Row | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('.tree .row') : null;
  const leaf = row?.querySelector<HTMLAnchorElement>('.leaf');
  return row && leaf ? { row, leaf, title: leaf.textContent } : undefined;
}

/** The page of a row. Errors: ApiError. */
export function pageOf({ leaf }: Pick<Row, 'leaf'>): Promise<FullPage> {
  const { root, api } = treeContext();
  const path = leaf.pathname.slice(new URL(root, location.href).pathname.length + 1);
  return callApi('GET', `${api}/pages/path/${path}`);
}

/** Gives a page another title, also as the heading that its text begins with. Errors: ApiError, 409 for a newer revision. */
export function renamePage({ page_id, title: was, markdown, revision }: FullPage, title: string): Promise<FullPage> {
  return callApi('PATCH', `${treeContext().api}/pages/${page_id}`, {
    title,
    markdown: renameHeading(markdown, was, title),
    base_revision: revision,
  });
}

/** A place in the tree: right before or behind a page of `parent_page_id` ("" is the root); without one at its end. */
export interface Place {
  parent_page_id: string;
  before?: string;
  behind?: string;
}

/** The pages right below a page, in their order. Errors: ApiError. */
export function childrenOf(parent_page_id: string): Promise<(Sibling & { title: string })[]> {
  const { api } = treeContext();
  return listAll(parent_page_id === '' ? `${api}/branches` : `${api}/pages/${parent_page_id}/children`);
}

/** The place where a page is. Errors: ApiError. */
export async function placeOf({ page_id, parent_page_id }: FullPage): Promise<Place> {
  const siblings = await childrenOf(parent_page_id);
  const next = siblings[siblings.findIndex((it) => it.page_id === page_id) + 1];
  return { parent_page_id, ...(next && { before: next.page_id }) };
}

/** Puts a page there, and answers it as it is then. Errors: ApiError. */
export async function placePage(page: FullPage, { parent_page_id, before, behind }: Place): Promise<FullPage> {
  const { api } = treeContext();
  const others = (await childrenOf(parent_page_id)).filter(({ page_id }) => page_id !== page.page_id);
  const index = others.findIndex(({ page_id }) => page_id === (before ?? behind));
  const at = index < 0 ? others.length : behind === undefined ? index : index + 1;
  const isMoved = parent_page_id !== page.parent_page_id;
  let placed = page;
  for (const { page_id, position } of positionsFor({ ...page, ...(isMoved && { position: -1 }) }, others, at)) {
    const isPage = page_id === page.page_id;
    const saved = await callApi<FullPage>('PATCH', `${api}/pages/${page_id}`, {
      position,
      ...(isPage && isMoved && { parent_page_id }),
    });
    if (isPage) placed = saved;
  }
  return placed;
}
