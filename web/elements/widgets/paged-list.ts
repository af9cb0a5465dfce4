import { html, nothing, type TemplateResult } from 'lit';
import type { Host } from './host.ts';

/** Records per page, and the maximum that one request may ask for. */
const PART_SIZE = 25;
const PART_MAX = 500;

/** A list that loads in pages: the first at once, each further page on demand. */
export class PagedList<Item, Answer = Item[]> {
  readonly #host: Host;
  readonly #path: string;
  readonly #itemsOf: (answer: Answer) => Item[];
  /** Called with newly loaded items before they are shown. */
  readonly #onRead: (items: Item[]) => Promise<unknown> | undefined;
  /** undefined before the first load. */
  items: Item[] | undefined;
  query: Record<string, string> = {};
  #next = '';
  #turn = 0;

  constructor(
    host: Host,
    path: string,
    itemsOf: (answer: Answer) => Item[],
    onRead: (items: Item[]) => Promise<unknown> | undefined = () => undefined,
  ) {
    this.#host = host;
    this.#path = path;
    this.#itemsOf = itemsOf;
    this.#onRead = onRead;
  }

  get hasMore(): boolean {
    return this.#next !== '';
  }

  /** Loads the list, or reloads at least as many items as are shown. Throws WidgetError. */
  async read(): Promise<void> {
    (await this.#readOn([], `?${new URLSearchParams(this.query)}`, this.items?.length ?? 0))();
  }

  /** Loads and shows the first page of another query. */
  search(query: Record<string, string>): Promise<void> {
    return showTogether(this.#host, [this.find(query)]);
  }

  /** Loads the first page of another query and returns a function that shows it. Throws WidgetError. */
  find(query: Record<string, string>): Promise<() => void> {
    this.query = query;
    return this.#readOn([], `?${new URLSearchParams(query)}`, 0);
  }

  /**
   * Loads at least `wanted` items, if the list has as many, and returns a function that shows them. That function does
   * nothing if another load has started since, because the later load shows its own result.
   */
  async #readOn(items: Item[], from: string, wanted: number): Promise<() => void> {
    this.#turn += 1;
    const turn = this.#turn;
    let next = from;
    const read = [...items];
    do {
      const query = new URLSearchParams(next);
      query.set('limit', String(Math.min(PART_MAX, Math.max(PART_SIZE, wanted - read.length))));
      const part = await this.#host.send<Answer>('GET', `${this.#path}?${query}`);
      const found = this.#itemsOf(part.body);
      await this.#onRead(found);
      read.push(...found);
      next = part.next;
    } while (next !== '' && read.length < wanted);
    return () => {
      if (turn !== this.#turn) return;
      this.items = read;
      this.#next = next;
      this.#host.update();
    };
  }

  /** `name`: the name of the list, for users of screen readers, who may hear the button out of context. */
  renderMore(name: string): TemplateResult | typeof nothing {
    if (!this.hasMore) return nothing;
    const { t } = this.#host;
    const shown = this.items ?? [];
    const more = () => void showTogether(this.#host, [this.#readOn(shown, this.#next, shown.length + 1)]);
    return html`<button type="button" part="button" aria-label="${t('more')}: ${name}" @click=${more}>${t('more')}</button>`;
  }
}

/** Shows several lists once all of them have loaded, so that lists searched together change together. */
export async function showTogether(host: Host, readings: readonly Promise<() => void>[]): Promise<void> {
  try {
    for (const show of await Promise.all(readings)) show();
  } catch (error) {
    host.fail(error);
  }
}
