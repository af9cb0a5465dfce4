import { callApi, errorMessage } from './call-api.ts';
import { link } from './tree-keys.ts';

const AFTER_MS = 100;
const SHOWN = 30;

interface Suggestion {
  kind: 'page' | 'query';
  text: string;
  path?: string;
}

/**
 * Replaces the tree with the pages whose titles contain the text typed above it. The API searches, so this works in a
 * wiki of any size.
 */
export function filterTree(): void {
  const form = document.querySelector<HTMLFormElement>('.tree-filter');
  const input = form?.querySelector('input');
  const roots = document.querySelector<HTMLElement>('.tree-roots');
  if (!form || !input || !roots) return;
  const found = document.createElement('ul');
  found.className = 'tree-found';
  const status = document.createElement('p');
  status.className = 'small';
  status.setAttribute('role', 'status');
  form.after(status, found);
  let request = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function show(words: string, signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ query: words, limit: String(SHOWN) });
    try {
      const pages = await callApi<Suggestion[]>('GET', `${roots?.dataset.api}/suggest?${query}`, undefined, signal);
      const rows = pages.filter(({ kind }) => kind === 'page').map(({ text, path }) => row(text, path ?? ''));
      found.replaceChildren(...rows);
      status.textContent = rows.length === 0 ? 'No matching titles.' : '';
    } catch (error) {
      if (!signal.aborted) status.textContent = errorMessage(error);
    }
  }

  function row(title: string, path: string): HTMLLIElement {
    const item = document.createElement('li');
    const box = document.createElement('span');
    box.className = 'row';
    const leaf = link(`${roots?.dataset.root}/${path}`, title, 'leaf');
    leaf.title = path;
    box.append(leaf);
    item.append(box);
    return item;
  }

  input.addEventListener('input', () => {
    const words = input.value.trim();
    clearTimeout(timer);
    request.abort();
    request = new AbortController();
    roots.hidden = words !== '';
    if (words === '') {
      found.replaceChildren();
      status.textContent = '';
    } else timer = setTimeout(show, AFTER_MS, words, request.signal);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown')
      (found.querySelector('a') ?? roots.querySelector<HTMLElement>('[tabindex="0"]'))?.focus();
    else if (event.key === 'Escape' && input.value !== '') {
      input.value = '';
      input.dispatchEvent(new Event('input'));
    } else return;
    event.preventDefault();
  });
}
