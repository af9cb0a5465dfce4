import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { callApi, errorMessage } from '../call-api.ts';
import { element } from './dom.ts';
import { type Parent, ParentPicker, TOP } from './parent-picker.ts';
import { childrenOf, type Place, treeContext } from './tree-pages.ts';

/** Below a parent with more subpages, only the first and the last place are offered. */
const PLACES_MAX = 200;

/**
 * Asks for a new parent, found by its title, and for the place among its subpages. Returns undefined if the user
 * cancels.
 */
export function askForPlace(page: FullPage): Promise<Place | undefined> {
  let parent: Parent | undefined;
  const places = element('select');
  const chosen = element('p', { className: 'move-chosen' });
  const move = element('button', { className: 'button main', value: 'move', disabled: true }, 'Move');
  // A page cannot move below itself.
  const isPossible = ({ path }: Parent) => path !== page.path && !path.startsWith(`${page.path}/`);
  const picker = new ParentPicker(isPossible, (next) => void choose(next).then(() => places.focus()));
  const { input, list, status } = picker;

  async function choose(next: Parent): Promise<void> {
    // The places below the new parent are not loaded yet.
    move.disabled = true;
    try {
      const siblings = (await childrenOf(next.page_id)).filter(({ page_id }) => page_id !== page.page_id);
      parent = next;
      chosen.replaceChildren('Under: ', element('strong', {}, next.text));
      places.replaceChildren(...optionsOf(siblings));
      status.textContent = '';
      move.disabled = false;
    } catch (error) {
      status.textContent = errorMessage(error);
    }
  }

  const heading = element('h2', { id: 'move-heading' }, `Move “${page.title}”`);
  const cancel = element('button', { className: 'button quiet', value: 'cancel' }, 'Cancel');
  const form = element(
    'form',
    { method: 'dialog' },
    heading,
    element('label', {}, 'New parent', input),
    list,
    chosen,
    element('label', {}, 'Position', places),
    element('p', { className: 'small' }, 'Subpages move with the page. Old addresses redirect to the new ones.'),
    status,
    element('p', { className: 'row-of-buttons' }, move, cancel),
  );
  const dialog = element('dialog', { className: 'sheet move-dialog' }, form);
  dialog.setAttribute('aria-labelledby', heading.id);
  document.body.append(dialog);
  dialog.showModal();
  parentOf(page).then(
    (current) => (parent ? undefined : choose(current)),
    // The user can still choose another parent.
    (error) => (status.textContent = errorMessage(error)),
  );
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      picker.stop();
      const [side = '', id = ''] = places.value.split(' ');
      const place = parent && { parent_page_id: parent.page_id, ...(id !== '' && { [side]: id }) };
      resolve(dialog.returnValue === 'move' ? place : undefined);
    });
  });
}

/** Returns the places among siblings; each value is a side and the id of the sibling. */
function optionsOf(siblings: readonly { page_id: string; title: string }[]): HTMLOptionElement[] {
  const option = (text: string, value: string) => element('option', { value }, text);
  const [first] = siblings;
  const between = siblings.length > PLACES_MAX ? [] : siblings.slice(0, -1);
  return [
    option('Last', ''),
    ...(first ? [option('First', `before ${first.page_id}`)] : []),
    ...between.map(({ title, page_id }) => option(`After “${title}”`, `behind ${page_id}`)),
  ];
}

/** Returns the current parent of a page, so that the dialog starts with its places. Throws ApiError. */
async function parentOf({ parent_page_id }: FullPage): Promise<Parent> {
  if (parent_page_id === '') return TOP;
  const { page_id, path, title } = await callApi<FullPage>('GET', `${treeContext().api}/pages/${parent_page_id}`);
  return { page_id, path, text: title };
}
