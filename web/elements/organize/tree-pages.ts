import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { callApi, listAll } from '../call-api.ts';
import { renameHeading } from '../saving/rename-heading.ts';
import { positionsFor, type Sibling } from './positions.ts';

/** The address of the wiki, its API path, and a check of the user's permissions. */
export interface TreeContext {
  root: string;
  api: string;
  can(permission: string): boolean;
}

/**
 * Returns the context of the document's tree. Call it at each use, because navigation may replace the document's
 * content.
 */
export function treeContext(): TreeContext {
  const { root = '', api = '' } = document.querySelector<HTMLElement>('.tree-roots')?.dataset ?? {};
  const permissions = document.querySelector<HTMLElement>('ibid-palette')?.dataset.can ?? '';
  return { root, api, can: (permission) => permissions.split(' ').includes(permission) };
}

/** Returns the address of the page in the editor; undefined outside the editor. */
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

/** Returns the row of the tree that contains an element; undefined outside the tree. */
export function rowAt(target: EventTarget | null): Row | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('.tree .row') : null;
  const leaf = row?.querySelector<HTMLAnchorElement>('.leaf');
  return row && leaf ? { row, leaf, title: leaf.textContent } : undefined;
}

/** Loads the page of a row. Throws ApiError. */
export function pageOf({ leaf }: Pick<Row, 'leaf'>): Promise<FullPage> {
  const { root, api } = treeContext();
  const path = leaf.pathname.slice(new URL(root, location.href).pathname.length + 1);
  return callApi('GET', `${api}/pages/path/${path}`);
}

/**
 * Changes a page's title, and the heading at the beginning of its text if it has the same title. Throws ApiError, with
 * 409 for a newer revision.
 */
export function renamePage({ page_id, title: was, markdown, revision }: FullPage, title: string): Promise<FullPage> {
  return callApi('PATCH', `${treeContext().api}/pages/${page_id}`, {
    title,
    markdown: renameHeading(markdown, was, title),
    base_revision: revision,
  });
}

/**
 * A place in the tree: right before or after a subpage of `parent_page_id` ("" is the root), or at the end without a
 * sibling.
 */
export interface Place {
  parent_page_id: string;
  before?: string;
  behind?: string;
}

/** Lists the direct subpages of a page in order. Throws ApiError. */
export function childrenOf(parent_page_id: string): Promise<(Sibling & { title: string })[]> {
  const { api } = treeContext();
  return listAll(parent_page_id === '' ? `${api}/branches` : `${api}/pages/${parent_page_id}/children`);
}

/** Returns the current place of a page. Throws ApiError. */
export async function placeOf({ page_id, parent_page_id }: FullPage): Promise<Place> {
  const siblings = await childrenOf(parent_page_id);
  const next = siblings[siblings.findIndex((it) => it.page_id === page_id) + 1];
  return { parent_page_id, ...(next && { before: next.page_id }) };
}

/** Moves a page to a place and returns the moved page. Throws ApiError. */
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
