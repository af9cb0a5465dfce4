import type { DraftFields } from './ask-draft-worker.ts';
import { deleteDraft, draftKey, listDrafts, readDraft, recoverDrafts, storeDraft, storeLongDraft } from './drafts.ts';
import type { EditorForm } from './editor-form.ts';
import { OpenTabs } from './open-tabs.ts';
import { randomId } from './persistent-call.ts';
import type { Draft } from './stored-drafts.ts';

/** What this tab writes, in the browser's storage; and what other tabs left there. */
export class LocalDraft {
  readonly #form: EditorForm;
  readonly #tabs: OpenTabs;
  #id: string;
  #page: string;
  #isBehind = false;
  /** Whether this visit of the address is its first: a reload has an id. */
  readonly #isFirstVisit: boolean;

  constructor(form: EditorForm) {
    this.#form = form;
    this.#page = form.page;
    // A reload goes on with the same draft; another visit of the same address, such as a second new page, does not.
    const id = (history.state as { draft?: string } | null)?.draft;
    this.#isFirstVisit = id === undefined;
    this.#id = id ?? randomId();
    this.#keepId();
    this.#tabs = new OpenTabs(() => this.#key);
  }

  get #key(): string {
    return draftKey(this.#form.wiki, this.#page, this.#id);
  }
  get id(): string {
    return this.#id;
  }

  #keepId(): void {
    history.replaceState({ ...history.state, draft: this.#id }, '');
  }

  /** What was stored stays, and is offered later; from now on another draft is written. */
  startAnother(): void {
    this.#id = randomId();
    this.#keepId();
  }

  read(): Draft | undefined {
    return readDraft(this.#key);
  }

  /** Brings back what a crash of the browser took, which the other methods then know. */
  recover(): Promise<void> {
    return recoverDrafts(this.#form.wiki, this.#page);
  }

  /** Who comes to go on with this draft does so, where this browser has it. */
  goOnWith(id: string): void {
    if (!this.#isFirstVisit || readDraft(draftKey(this.#form.wiki, this.#page, id)) === undefined) return;
    this.#id = id;
    this.#keepId();
  }

  /** Whether `localStorage` may have less than what was stored last: it is to be stored again when the page is left. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Whether it was stored. */
  store(draft: Draft): Promise<boolean> {
    this.#isBehind = false;
    return storeDraft(this.#key, draft);
  }

  /** Stores a long text of which more will follow, unless the page is left. Whether it was stored. */
  storeWhileTyping(fields: DraftFields, parts: readonly string[]): Promise<boolean> {
    this.#isBehind = true;
    return storeLongDraft(this.#key, fields, parts);
  }

  delete(): void {
    this.#isBehind = false;
    deleteDraft(this.#key);
  }

  /** The page of the form was created: its draft is kept with it. */
  moveToPage(): void {
    const draft = this.read();
    this.delete();
    this.#page = this.#form.page;
    if (draft) void this.store(draft);
  }

  /**
   * The drafts of the same page that other tabs left or are writing, the latest first. A tab that was duplicated has the
   * id of the first one, and takes another.
   */
  async others(): Promise<{ key: string; id: string; draft: Draft; isOpen: boolean }[]> {
    const open = await this.#tabs.keysOfOthers();
    if (open.has(this.#key)) this.startAnother();
    return listDrafts(this.#form.wiki, this.#page)
      .filter(({ key }) => key !== this.#key)
      .map((found) => ({ ...found, id: found.key.split(' ')[3] ?? '', isOpen: open.has(found.key) }));
  }

  close(): void {
    this.#tabs.close();
  }
}
