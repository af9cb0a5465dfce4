import { callApi, errorMessage } from '../call-api.ts';
import { element } from './dom.ts';
import { treeContext } from './tree-pages.ts';

const AFTER_MS = 100;
const SHOWN = 12;

export interface Parent {
  page_id: string;
  path: string;
  text: string;
}

export const TOP: Parent = { page_id: '', path: '', text: 'Top level of the wiki' };

/** A combobox, following WAI-ARIA's pattern, that finds pages by their titles and always offers the top level. */
export class ParentPicker {
  readonly input = element('input', {
    placeholder: 'Find a page by title',
    autocomplete: 'off',
    maxLength: 1_024,
    role: 'combobox',
    ariaExpanded: 'true',
  });
  readonly list = element('div', {
    id: 'move-found',
    role: 'listbox',
    ariaLabel: 'Parent pages',
    className: 'move-found',
  });
  readonly status = element('p', { className: 'small', role: 'status' });
  readonly #isPossible: (parent: Parent) => boolean;
  readonly #choose: (parent: Parent) => void;
  #parents: Parent[] = [];
  #active = 0;
  /** The words that the parents were found for. */
  #answered = '';
  #request = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(isPossible: (parent: Parent) => boolean, choose: (parent: Parent) => void) {
    this.#isPossible = isPossible;
    this.#choose = choose;
    this.input.setAttribute('aria-controls', this.list.id);
    this.input.addEventListener('input', () => this.#search());
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown') this.#activate(this.#active + 1);
      else if (event.key === 'ArrowUp') this.#activate(this.#active - 1);
      else if (event.key === 'Enter') void this.#chooseActive();
      else return;
      event.preventDefault();
    });
    this.#show([]);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#request.abort();
  }

  #search(): void {
    this.stop();
    this.#request = new AbortController();
    const words = this.input.value.trim();
    if (words !== '') this.#timer = setTimeout(() => void this.#find(words), AFTER_MS);
    else {
      this.#answered = '';
      this.#show([]);
    }
  }

  async #find(words: string): Promise<void> {
    const { signal } = this.#request;
    const query = new URLSearchParams({ query: words, limit: String(SHOWN) });
    try {
      const path = `${treeContext().api}/suggest?${query}`;
      const found = await callApi<(Parent & { kind: string })[]>('GET', path, undefined, signal);
      const pages = found.filter(({ kind }) => kind === 'page');
      this.#show(pages);
      this.#answered = words;
      this.status.textContent = pages.length === 0 ? 'No matching titles.' : '';
    } catch (error) {
      if (!signal.aborted) this.status.textContent = errorMessage(error);
    }
  }

  /** Chooses the active parent. Enter may be pressed before the search for the typed words has finished. */
  async #chooseActive(): Promise<void> {
    const words = this.input.value.trim();
    clearTimeout(this.#timer);
    if (words !== this.#answered) await this.#find(words);
    const parent = this.#parents[this.#active];
    const isFound = words === this.#answered && (words === '' || this.#parents.length > 1);
    if (parent && isFound) this.#choose(parent);
  }

  #show(found: readonly Parent[]): void {
    this.#parents = [...found.filter(this.#isPossible), TOP];
    this.list.replaceChildren(
      ...this.#parents.map((parent, i) => {
        const option = element('div', { id: `parent-${i}`, role: 'option' }, element('span', {}, parent.text));
        if (parent.path !== '') option.append(element('span', { className: 'small' }, parent.path));
        option.addEventListener('click', () => this.#choose(parent));
        return option;
      }),
    );
    this.#activate(0);
  }

  #activate(index: number): void {
    this.#active = (index + this.#parents.length) % this.#parents.length;
    for (const [i, option] of [...this.list.children].entries()) option.ariaSelected = String(i === this.#active);
    this.input.setAttribute('aria-activedescendant', `parent-${this.#active}`);
    this.list.children[this.#active]?.scrollIntoView({ block: 'nearest' });
  }
}
