import type { DraftFields } from './ask-draft-worker.ts';
import { deleteDraft, draftKey, listDrafts, readDraft, recoverDrafts, storeDraft, storeLongDraft } from './drafts.ts';
import type { EditorForm } from './editor-form.ts';
import { OpenTabs } from './open-tabs.ts';
import { randomId } from './persistent-call.ts';
import type { Draft } from './stored-drafts.ts';

/** The draft of this tab in the browser's storage, and the drafts that other tabs left there. */
export class LocalDraft {
  readonly #form: EditorForm;
  readonly #tabs: OpenTabs;
  #id: string;
  #page: string;
  #isBehind = false;
  /** Whether this is the first visit of the history entry; after a reload its state has an id. */
  readonly #isFirstVisit: boolean;

  constructor(form: EditorForm) {
    this.#form = form;
    this.#page = form.page;
    // A reload continues the same draft. Another visit of the same address, such as a second new page, starts its own.
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

  /** Starts another draft. The stored one is kept and offered later. */
  startAnother(): void {
    this.#id = randomId();
    this.#keepId();
  }

  read(): Draft | undefined {
    return readDraft(this.#key);
  }

  /** Restores drafts lost in a crash of the browser, so that the other methods find them. */
  recover(): Promise<void> {
    return recoverDrafts(this.#form.wiki, this.#page);
  }

  /** Continues this draft, if this is the first visit and the browser has the draft. */
  goOnWith(id: string): void {
    if (!this.#isFirstVisit || readDraft(draftKey(this.#form.wiki, this.#page, id)) === undefined) return;
    this.#id = id;
    this.#keepId();
  }

  /**
   * Whether `localStorage` may lack the text that was stored last, which must then be stored again when the page is
   * left.
   */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Returns whether the draft was stored. */
  store(draft: Draft): Promise<boolean> {
    this.#isBehind = false;
    return storeDraft(this.#key, draft);
  }

  /** Stores a long text during typing; another call follows unless the page is left. Returns whether it was stored. */
  storeWhileTyping(fields: DraftFields, parts: readonly string[]): Promise<boolean> {
    this.#isBehind = true;
    return storeLongDraft(this.#key, fields, parts);
  }

  delete(): void {
    this.#isBehind = false;
    deleteDraft(this.#key);
  }

  /** Moves the draft to the key of the page that was created. */
  moveToPage(): void {
    const draft = this.read();
    this.delete();
    this.#page = this.#form.page;
    if (draft) void this.store(draft);
  }

  /**
   * Lists the drafts of the same page that other tabs left or are writing, latest first. A duplicated tab has the id of
   * the original, so it starts a draft with another id.
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
