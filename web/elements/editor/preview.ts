import { ApiError, callApi, errorMessage } from '../call-api.ts';
import { drawDiagrams, drawFormulas } from '../lazy-modules.ts';

const DELAY_MS = 350;

export interface PreviewOptions {
  api: string;
  path: string;
  /** The address of the page, which its links are relative to. */
  pageUrl: string;
  read(): string;
  /** Asks the user to sign in again after the session has ended. */
  signIn(): Promise<unknown>;
}

/** The rendered page next to its text, on demand. The service renders it. */
export class Preview {
  readonly element = document.createElement('div');
  readonly #options: PreviewOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: AbortController | undefined;

  constructor(options: PreviewOptions) {
    this.#options = options;
    this.element.className = 'prose preview';
    this.element.setAttribute('aria-label', 'Preview');
    this.element.setAttribute('role', 'region');
    this.element.tabIndex = 0;
    this.element.hidden = true;
    this.element.addEventListener('click', (event) => this.#openLink(event));
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }
  set isShown(isShown: boolean) {
    this.element.hidden = !isShown;
    if (isShown) void this.#render();
  }

  /** Schedules rendering for the next pause of typing. */
  changed(): void {
    clearTimeout(this.#timer);
    if (this.isShown) this.#timer = setTimeout(() => void this.#render(), DELAY_MS);
  }

  async #render(): Promise<void> {
    this.#request?.abort();
    this.#request = new AbortController();
    const { api, path, read, signIn } = this.#options;
    try {
      const body = { markdown: read(), page_path: path };
      const { html } = await callApi<{ html: string }>('POST', `${api}/preview`, body, this.#request.signal);
      // The API has sanitized this HTML, as it does for every page.
      this.element.innerHTML = html;
      if (/class="(?:math|language-math)/.test(html)) await drawFormulas(this.element);
      if (html.includes('<pre class="mermaid"')) await drawDiagrams(this.element);
    } catch (error) {
      if ((error as Error).name === 'AbortError') return;
      if (error instanceof ApiError && error.status === 401) {
        await signIn();
        return this.#render();
      }
      // The service is rendering too much. Keep the last preview and retry later.
      if (error instanceof ApiError && error.status === 429) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => void this.#render(), 1_000 * (error.retry_after ?? 1));
        return;
      }
      this.element.textContent = `Could not render the preview: ${errorMessage(error)}`;
    }
  }

  /** Opens a link of the preview in a new tab, resolved against the address of the page. */
  #openLink(event: MouseEvent): void {
    const href = (event.target as Element).closest('a')?.getAttribute('href');
    if (!href || href.startsWith('#')) return;
    event.preventDefault();
    window.open(new URL(href, this.#options.pageUrl), '_blank', 'noopener');
  }
}
