import { html, nothing, type TemplateResult } from 'lit';
import type { Host } from './host.ts';

/** How many records are read at once, and at most with one request. */
const PART_SIZE = 25;
const PART_MAX = 500;

/** A list that is read in parts: the first one at once, each further one when the user wants it. */
export class PagedList<Item, Answer = Item[]> {
  readonly #host: Host;
  readonly #path: string;
  readonly #itemsOf: (answer: Answer) => Item[];
  /** Called with what was read before it is shown. */
  readonly #onRead: (items: Item[]) => Promise<unknown> | undefined;
  /** undefined: not read yet. */
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

  /** Reads again as many as are shown, at least a part. Errors: WidgetError. */
  async read(): Promise<void> {
    (await this.#readOn([], `?${new URLSearchParams(this.query)}`, this.items?.length ?? 0))();
  }

  /** Another query begins with its first part. */
  search(query: Record<string, string>): Promise<void> {
    return showTogether(this.#host, [this.find(query)]);
  }

  /** Reads the first part of another query, and answers how to show it. Errors: WidgetError. */
  find(query: Record<string, string>): Promise<() => void> {
    this.query = query;
    return this.#readOn([], `?${new URLSearchParams(query)}`, 0);
  }

  /**
   * Reads at least `wanted`, if there are as many. Answers how to show them; nothing is shown if another reading began meanwhile, as
   * it shows what it reads.
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

  /** `name`: what the list is of, for those who hear the button alone. */
  renderMore(name: string): TemplateResult | typeof nothing {
    if (!this.hasMore) return nothing;
    const { t } = this.#host;
    const shown = this.items ?? [];
    const more = () => void showTogether(this.#host, [this.#readOn(shown, this.#next, shown.length + 1)]);
    return html`<button type="button" part="button" aria-label="${t('more')}: ${name}" @click=${more}>${t('more')}</button>`;
  }
}

/** Shows what was read when all of it was: lists that are searched together change together. */
export async function showTogether(host: Host, readings: readonly Promise<() => void>[]): Promise<void> {
  try {
    for (const show of await Promise.all(readings)) show();
  } catch (error) {
    host.fail(error);
  }
}
