import { ApiError, callApi } from './call-api.ts';

/**
 * Shows the pages with the most similar words. Loaded when the end of the page becomes visible, because finding them
 * costs more than the page itself.
 */
class Related extends HTMLElement {
  #watched: IntersectionObserver | undefined;

  disconnectedCallback(): void {
    this.#watched?.disconnect();
  }

  connectedCallback(): void {
    const watched = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting) return;
        watched.disconnect();
        void this.#show();
      },
      { rootMargin: '25%' },
    );
    watched.observe(this);
    this.#watched = watched;
  }

  async #show(): Promise<void> {
    const { from = '', base = '' } = this.dataset;
    const pages = await readRelated(from);
    if (pages.length === 0) return;
    const heading = document.createElement('h2');
    heading.textContent = 'Related pages';
    const list = document.createElement('ul');
    list.className = 'columns';
    for (const { path, title } of pages) {
      const link = document.createElement('a');
      link.href = `${base}/${path}`;
      link.textContent = title;
      const item = document.createElement('li');
      item.append(link);
      list.append(item);
    }
    const section = document.createElement('section');
    section.append(heading, list);
    this.append(section);
  }
}

/** Maximum number of retries while the service is overloaded. */
const TRIES = 3;

/** Returns an empty list after an error, because readers do not miss these links. */
async function readRelated(from: string): Promise<{ path: string; title: string }[]> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await callApi('GET', from);
    } catch (error) {
      const wait = error instanceof ApiError ? error.retry_after : undefined;
      if (wait === undefined || left === 0) return [];
      await new Promise((resolve) => setTimeout(resolve, wait * 1_000));
    }
  }
}

customElements.define('ibid-related', Related);
