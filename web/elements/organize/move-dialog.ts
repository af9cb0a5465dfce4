import type { FullPage } from '../../../src/pages/schema.ts';
import { callApi, errorMessage } from '../call-api.ts';
import { element } from './dom.ts';
import { childrenOf, type Place, treeContext } from './tree-pages.ts';

const AFTER_MS = 100;
const SHOWN = 12;
/** A parent with more subpages offers its beginning and its end as places. */
const PLACES_MAX = 200;

interface Parent {
  page_id: string;
  path: string;
  text: string;
}

const TOP: Parent = { page_id: '', path: '', text: 'Top level of the wiki' };

/** Asks where a page is to be: a parent, found by its title, and the place among its subpages. undefined: nowhere else. */
export function askForPlace(page: FullPage): Promise<Place | undefined> {
  const input = element('input', { placeholder: 'Find a page by its title', autocomplete: 'off', maxLength: 1_024 });
  const list = element('div', {
    id: 'move-found',
    role: 'listbox',
    ariaLabel: 'Parent pages',
    className: 'move-found',
  });
  const places = element('select');
  const chosen = element('p', { className: 'move-chosen' });
  const status = element('p', { className: 'small', role: 'status' });
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-controls', list.id);
  input.setAttribute('aria-expanded', 'true');
  const heading = element('h2', { id: 'move-heading' }, `Move “${page.title}”`);
  const form = element(
    'form',
    { method: 'dialog' },
    heading,
    element('label', {}, 'New parent', input),
    list,
    chosen,
    element('label', {}, 'Place', places),
    element('p', { className: 'small' }, 'Subpages move along, and old addresses lead to the new ones.'),
    status,
    element(
      'p',
      { className: 'row-of-buttons' },
      element('button', { className: 'button main', value: 'move' }, 'Move'),
      element('button', { className: 'button quiet', value: 'cancel', formNoValidate: true }, 'Cancel'),
    ),
  );
  const dialog = element('dialog', { className: 'sheet move-dialog' }, form);
  dialog.setAttribute('aria-labelledby', heading.id);

  let parents: Parent[] = [];
  let active = 0;
  let parent: Parent | undefined;
  let request = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function showParents(found: readonly Parent[]): void {
    parents = [...found.filter(({ path }) => path !== page.path && !path.startsWith(`${page.path}/`)), TOP];
    list.replaceChildren(
      ...parents.map(({ text, path }, i) => {
        const option = element('div', { id: `parent-${i}`, role: 'option' }, element('span', {}, text));
        if (path !== '') option.append(element('span', { className: 'small' }, path));
        option.addEventListener('click', () => void choose(parents[i]));
        return option;
      }),
    );
    activate(0);
  }

  function activate(index: number): void {
    active = (index + parents.length) % parents.length;
    for (const [i, option] of [...list.children].entries()) option.setAttribute('aria-selected', String(i === active));
    input.setAttribute('aria-activedescendant', `parent-${active}`);
    list.children[active]?.scrollIntoView({ block: 'nearest' });
  }

  async function choose(next: Parent | undefined): Promise<void> {
    if (!next) return;
    try {
      const siblings = (await childrenOf(next.page_id)).filter(({ page_id }) => page_id !== page.page_id);
      parent = next;
      chosen.replaceChildren('Below: ', element('strong', {}, next.text));
      const shown = siblings.length > PLACES_MAX ? [] : siblings.slice(0, -1);
      const option = (text: string, value: string) => element('option', { value }, text);
      places.replaceChildren(
        option('Last', ''),
        ...(siblings[0] ? [option('First', `before ${siblings[0].page_id}`)] : []),
        ...shown.map(({ title, page_id }) => option(`After “${title}”`, `behind ${page_id}`)),
      );
      status.textContent = '';
    } catch (error) {
      status.textContent = errorMessage(error);
    }
  }

  async function find(words: string, signal: AbortSignal): Promise<void> {
    try {
      const query = new URLSearchParams({ query: words, limit: String(SHOWN) });
      const found = await callApi<(Parent & { kind: string })[]>(
        'GET',
        `${treeContext().api}/suggest?${query}`,
        undefined,
        signal,
      );
      const pages = found.filter(({ kind }) => kind === 'page');
      showParents(pages);
      status.textContent = pages.length === 0 ? 'No title matches.' : '';
    } catch (error) {
      if (!signal.aborted) status.textContent = errorMessage(error);
    }
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    request.abort();
    request = new AbortController();
    const words = input.value.trim();
    if (words === '') showParents([]);
    else timer = setTimeout(find, AFTER_MS, words, request.signal);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') activate(active + 1);
    else if (event.key === 'ArrowUp') activate(active - 1);
    else if (event.key === 'Enter') void choose(parents[active]).then(() => places.focus());
    else return;
    event.preventDefault();
  });

  document.body.append(dialog);
  dialog.showModal();
  showParents([]);
  void showCurrentParent();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      request.abort();
      const [side = '', id = ''] = places.value.split(' ');
      const place = parent && { parent_page_id: parent.page_id, ...(id !== '' && { [side]: id }) };
      resolve(dialog.returnValue === 'move' ? place : undefined);
    });
  });

  /** Before another is chosen it stays where it is: its place changes among its siblings. */
  async function showCurrentParent(): Promise<void> {
    if (page.parent_page_id === '') return choose(TOP);
    const { page_id, path, title } = await callApi<FullPage>(
      'GET',
      `${treeContext().api}/pages/${page.parent_page_id}`,
    );
    if (!parent) await choose({ page_id, path, text: title });
  }
}
