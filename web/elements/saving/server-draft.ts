import type { Autosave, FullAutosave } from '../../../src/wiki/autosaves/schema.ts';
import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { ApiError, callApi } from '../call-api.ts';
import { callWithText } from './ask-draft-worker.ts';
import type { EditingElement, EditorForm } from './editor-form.ts';
import { LONG_TEXT } from './pause-timer.ts';
import type { Draft } from './stored-drafts.ts';

/** Maximum age of the service's copy during typing. Each request sends the whole text. */
const SEND_DELAY_MS = 800;
const LONG_DELAY_MS = 2_000;

/** Maximum number of texts that are loaded to be offered. */
const OFFERED_MAX = 5;

/**
 * The service's copy of an unsaved text, for use on another device. The browser has its own copy, so failures are not
 * reported.
 */
export class ServerDraft {
  readonly #form: EditorForm;
  readonly #editor: EditingElement;
  readonly #id: () => string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The last request. Requests run one after another. */
  #last: Promise<unknown> = Promise.resolve();
  #sentId: string | undefined;
  /** Copies that this draft continues. They are kept until the service has the text of this draft. */
  readonly #superseded = new Set<string>();

  constructor(form: EditorForm, editor: EditingElement, id: () => string) {
    this.#form = form;
    this.#editor = editor;
    this.#id = id;
  }

  get #path(): string {
    return `${this.#form.api}/autosaves`;
  }

  /** Schedules a request after a change of the text. `length`: in characters. */
  schedule(length: number): void {
    this.#timer ??= setTimeout(
      () => {
        // Text typed during a request is sent with the next one.
        this.#last = this.#last.then(() => this.#send());
      },
      length < LONG_TEXT ? SEND_DELAY_MS : LONG_DELAY_MS,
    );
  }

  async #send(): Promise<void> {
    if (this.#timer === undefined) return;
    this.#timer = undefined;
    const { page, base, parentId, title } = this.#form;
    const id = this.#id();
    const body = {
      title: title.value,
      ...(page === '' ? { parent_page_id: parentId } : { page_id: page, base_revision: Number(base) }),
    };
    this.#sentId = id;
    const address = `${this.#path}/${id}`;
    const sending =
      this.#editor.textLength < LONG_TEXT
        ? callApi('PUT', address, { ...body, markdown: this.#editor.text })
        : callWithText('PUT', address, body, this.#editor.textParts);
    const isSent = await quietly(sending.then(() => true));
    if (isSent) this.#forgetSuperseded();
  }

  #forgetSuperseded(): void {
    for (const id of this.#superseded) this.forget(id);
    this.#superseded.clear();
  }

  /** Marks a copy as continued by this draft. */
  supersede(id: string): void {
    this.#superseded.add(id);
  }

  /** Records a draft that was written before a reload: the service may have a copy. */
  resumed(id: string): void {
    this.#sentId = id;
  }

  /**
   * Deletes the service's copy, and the copies that this draft continues. Call it after the text was saved or
   * discarded.
   */
  delete(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const id = this.#sentId;
    this.#sentId = undefined;
    if (id !== undefined) this.forget(id);
    this.#forgetSuperseded();
  }

  forget(id: string): void {
    this.#last = this.#last.then(() => quietly(callApi('DELETE', `${this.#path}/${id}`)));
  }

  /** Lists the service's copies for this page, or for new pages; undefined if the service cannot be reached. */
  list(): Promise<Autosave[] | undefined> {
    return quietly(callApi<Autosave[]>('GET', `${this.#path}?page_id=${this.#form.page}&limit=100`));
  }

  /** Loads the latest copies, and the copy with the id `wanted`, as drafts. */
  async read(copies: readonly Autosave[], wanted: string): Promise<{ id: string; draft: Draft }[]> {
    const latest = copies.toSorted((one, other) => other.updated_at.localeCompare(one.updated_at));
    const offered = latest.filter(({ autosave_id }, at) => at < OFFERED_MAX || autosave_id === wanted);
    const read = await Promise.all(
      offered.map(async ({ autosave_id: id, parent_page_id }) => {
        const [copy, parent] = await Promise.all([
          quietly(callApi<FullAutosave>('GET', `${this.#path}/${id}`)),
          this.#pathOf(parent_page_id),
        ]);
        if (!copy) return undefined;
        const { title, markdown, base_revision, updated_at } = copy;
        const draft = { title, markdown, base_revision: String(base_revision || ''), at: Date.parse(updated_at) };
        return { id, draft: { ...draft, ...(parent !== undefined && { parent }) } };
      }),
    );
    return read.filter((found) => found !== undefined);
  }

  /**
   * Returns the path of the parent of a new page; undefined if the parent is gone, or is already the parent in the
   * form.
   */
  async #pathOf(parent: string): Promise<string | undefined> {
    if (this.#form.page !== '' || parent === this.#form.parentId) return undefined;
    if (parent === '') return '';
    return (await quietly(callApi<FullPage>('GET', `${this.#form.api}/pages/${encodeURIComponent(parent)}`)))?.path;
  }
}

async function quietly<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    // The service is unreachable, the session has ended, or a limit is reached. The browser still has the text.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
