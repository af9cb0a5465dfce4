import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { callApi } from '../call-api.ts';
import { announce } from '../reading/copy.ts';
import { renameHeading } from '../saving/rename-heading.ts';
import { element } from './dom.ts';
import { closeFlash, leaveWith, showProblem } from './flash.ts';
import { askForPlace } from './move-dialog.ts';
import {
  childrenOf,
  editedAddress,
  type Place,
  pageOf,
  placeOf,
  placePage,
  type Row,
  treeContext,
} from './tree-pages.ts';

/** Loads the page of a row and runs an action on it. Shows a message if the action fails. */
async function withPage(row: Pick<Row, 'leaf'>, act: (page: FullPage) => Promise<unknown>): Promise<void> {
  closeFlash();
  try {
    await act(await pageOf(row));
  } catch (error) {
    showProblem(error);
  }
}

export function writeSubpage(row: Row): Promise<void> {
  return withPage(row, async ({ page_id }) => {
    location.href = `${treeContext().root}/-/new?parent=${page_id}`;
  });
}

export function movePage(row: Row): Promise<void> {
  return withPage(row, async (page) => {
    const place = await askForPlace(page);
    if (place) await moveTo(page, place);
  });
}

/** Moves the page of a row to the place that `placeAt` returns, if any. */
export function movePageTo(row: Row, placeAt: (page: FullPage) => Promise<Place | undefined>): Promise<void> {
  return withPage(row, async (page) => {
    const place = await placeAt(page);
    if (place) await moveTo(page, place);
  });
}

/** Moves a page before its previous sibling, or after its next one. */
export function movePageBy(row: Row, steps: -1 | 1): Promise<void> {
  return movePageTo(row, async ({ page_id, parent_page_id }) => {
    const siblings = await childrenOf(parent_page_id);
    const other = siblings[siblings.findIndex((it) => it.page_id === page_id) + steps]?.page_id;
    if (other === undefined) return undefined;
    return steps < 0 ? { parent_page_id, before: other } : { parent_page_id, behind: other };
  });
}

async function moveTo(page: FullPage, place: Place): Promise<void> {
  const { root } = treeContext();
  const was = await placeOf(page);
  const { path, title, page_id } = await placePage(page, place);
  const from = `${root}/${page.path}`;
  const here = decodeURI(location.pathname);
  const isWithin = here === from || here.startsWith(`${from}/`);
  const focus = `${root}/${path}`;
  await leaveWith(
    { text: `“${title}” was moved.`, undo: { do: 'place', page_id, place: was }, focus },
    isWithin ? focus + here.slice(from.length) : location.pathname,
  );
}

export function duplicatePage(row: Row): Promise<void> {
  return withPage(row, async ({ title, markdown, parent_page_id, status, page_id }) => {
    const { api, root } = treeContext();
    const name = `${title} (copy)`.slice(0, 255);
    const text = renameHeading(markdown, title, name);
    const made = await callApi<FullPage>('POST', `${api}/pages`, {
      title: name,
      markdown: text,
      parent_page_id,
      status,
    });
    const copy = await placePage(made, { parent_page_id, behind: page_id });
    const files = /attachment:attachment_/.test(markdown) ? ' Both pages share the same pictures and files.' : '';
    const address = `${root}/${copy.path}`;
    const undo = { do: 'delete', page_id: copy.page_id } as const;
    await leaveWith({ text: `This is a copy of “${title}”.${files}`, undo, focus: address }, address);
  });
}

export function deletePage(row: Row): Promise<void> {
  return withPage(row, async ({ page_id, path, title }) => {
    const { api, root } = treeContext();
    await callApi('DELETE', `${api}/pages/${page_id}`);
    const at = `${root}/${path}`;
    const here = editedAddress() ?? decodeURI(location.pathname);
    const isWithin = here === at || here.startsWith(`${at}/`);
    const above = at.slice(0, at.lastIndexOf('/'));
    const undo = { do: 'restore', page_id } as const;
    await leaveWith(
      { text: `“${title}” was moved to the trash.`, undo, focus: above },
      isWithin ? above : location.pathname,
    );
  });
}

export async function copyLink({ leaf, title }: Row): Promise<void> {
  try {
    await navigator.clipboard.writeText(leaf.href);
    announce(`Copied the link to “${title}”.`);
  } catch {
    // Over plain HTTP a script may not write to the clipboard.
    prompt('Link to this page', leaf.href);
  }
}

/** Saves the page's Markdown as a file. */
export function downloadPage(row: Pick<Row, 'leaf'>): Promise<void> {
  return withPage(row, async ({ markdown, slug }) => {
    const href = URL.createObjectURL(new Blob([markdown], { type: 'text/markdown' }));
    element('a', { href, download: `${slug}.md` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  });
}
