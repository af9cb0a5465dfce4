import type { Autosave, FullAutosave } from '../../../src/autosaves/schema.ts';
import { ApiError, callApi } from '../call-api.ts';
import { callInWorker } from './call-in-worker.ts';
import type { EditorForm } from './editor-form.ts';
import { LONG_TEXT } from './pause-timer.ts';

/** How old the service's copy may be while the user types; what is sent each time is the whole text. */
const SEND_DELAY_MS = 800;
const LONG_DELAY_MS = 2_000;

/** Maximum number of texts that are read to be offered. */
const OFFERED_MAX = 5;

/** The copy of an unsaved text that the service has, for another device. The browser has its own, so a failure is not told. */
export class ServerDraft {
  readonly #form: EditorForm;
  readonly #read: () => { id: string; title: string; markdown: string };
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The last request: they are sent one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #sentId: string | undefined;
  /** Copies with whose text this one goes on: they are there until the service has it. */
  readonly #superseded = new Set<string>();

  constructor(form: EditorForm, read: () => { id: string; title: string; markdown: string }) {
    this.#form = form;
    this.#read = read;
  }

  get #path(): string {
    return `${this.#form.api}/autosaves`;
  }

  /** The text has changed. `length`: in characters. */
  schedule(length: number): void {
    this.#timer ??= setTimeout(
      () => {
        // What is typed while one is in flight goes with the next.
        this.#last = this.#last.then(() => this.#send());
      },
      length < LONG_TEXT ? SEND_DELAY_MS : LONG_DELAY_MS,
    );
  }

  async #send(): Promise<void> {
    if (this.#timer === undefined) return;
    this.#timer = undefined;
    const { id, title, markdown } = this.#read();
    const { page, base } = this.#form;
    const body = {
      title,
      markdown,
      ...(page !== '' && { page_id: page, base_revision: Number(base) }),
    };
    this.#sentId = id;
    const call = markdown.length < LONG_TEXT ? callApi : callInWorker;
    const isSent = await quietly(call('PUT', `${this.#path}/${id}`, body).then(() => true));
    if (isSent) this.#forgetSuperseded();
  }

  #forgetSuperseded(): void {
    for (const id of this.#superseded) this.forget(id);
    this.#superseded.clear();
  }

  /** A copy with whose text the user goes on here. */
  supersede(id: string): void {
    this.#superseded.add(id);
  }

  /** A draft that was written before a reload: the service may have it. */
  resumed(id: string): void {
    this.#sentId = id;
  }

  /** The text was saved or discarded. */
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

  /** What was written elsewhere and is not saved: all but those of which this browser has its own copy. */
  async others(own: ReadonlySet<string>): Promise<FullAutosave[]> {
    const list = await quietly(callApi<Autosave[]>('GET', `${this.#path}?page_id=${this.#form.page}`));
    const others = (list ?? []).filter(({ autosave_id }) => !own.has(autosave_id));
    others.sort((one, other) => other.updated_at.localeCompare(one.updated_at));
    const read = others
      .slice(0, OFFERED_MAX)
      .map(({ autosave_id }) => quietly(callApi<FullAutosave>('GET', `${this.#path}/${autosave_id}`)));
    return (await Promise.all(read)).filter((found) => found !== undefined);
  }
}

async function quietly<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    // The service cannot be reached, the session has ended, or a limit is reached: the browser still has the text.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
