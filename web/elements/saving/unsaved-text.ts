import type { EditedPage } from './edited-page.ts';
import { LocalDraft } from './local-draft.ts';
import { makeNote, timeOf } from './notes.ts';
import { offerDrafts } from './offer-drafts.ts';
import { LONG_TEXT, PauseTimer } from './pause-timer.ts';
import { DRAFT_PARAMETER, sayUnsaved } from './say-unsaved.ts';
import { ServerDraft } from './server-draft.ts';
import type { Draft } from './stored-drafts.ts';

/** Keeps unsaved changes of a page in the browser and, as a copy, in the service, and restores them. */
export class UnsavedText {
  readonly #page: EditedPage;
  readonly #isSaving: () => boolean;
  readonly #draft: LocalDraft;
  readonly #server: ServerDraft;
  /** Limits how much typing a crash can lose. */
  readonly #storeTimer = new PauseTimer(() => this.store({ isTyping: true }));
  /** When the stored draft was written, in milliseconds since 1970; 0 without a draft. */
  #storedAt = 0;
  /** Nothing is stored before this is set, because it could overwrite the draft to restore. */
  #isRestored = false;
  readonly restored: Promise<void>;

  constructor(page: EditedPage, isSaving: () => boolean) {
    const { form, editor } = page;
    this.#page = page;
    this.#isSaving = isSaving;
    this.#draft = new LocalDraft(form);
    this.#server = new ServerDraft(form, editor, () => this.#draft.id);
    addEventListener('pagehide', () => {
      if (this.#storeTimer.isWaiting || this.#draft.isBehind) this.store();
      if (page.isChanged) sayUnsaved(form, this.#draft.id);
    });
    this.restored = this.#restore();
  }

  /** Schedules storing the text. More typing does not postpone it. */
  changed(): void {
    const { form, editor } = this.#page;
    this.#server.schedule(editor.textLength);
    if (!this.#isRestored) return;
    if (this.#storeTimer.isWaiting) return;
    if (!this.#isSaving()) form.showState('Not saved yet');
    this.#storeTimer.start(editor.textLength);
  }

  /** Moves the stored draft to the page that was created for a new text. */
  moveToPage(): void {
    this.#draft.moveToPage();
  }

  /** Stores the text if it has unsaved changes, otherwise deletes the draft. */
  keep(): void {
    if (this.#page.isChanged) this.store();
    else this.discard();
  }

  /** Deletes the draft, because everything is saved. */
  discard(): void {
    this.#storedAt = 0;
    this.#draft.delete();
    this.#server.delete();
  }

  /** Stores the text. `isAside`: the user continues another draft. */
  store({ isTyping = false, isAside = false } = {}): void {
    if (!this.#isRestored) return;
    this.#storeTimer.stop();
    const { form, editor, pending, choices } = this.#page;
    const at = Date.now();
    const fields = {
      title: form.title.value,
      base_revision: form.base,
      parent: form.position.parent,
      at,
      ...(pending && { pending }),
      ...(choices && { choices }),
      ...(isAside && { isAside: true as const }),
    };
    this.#storedAt = at;
    const isLong = isTyping && editor.textLength >= LONG_TEXT;
    const storing = isLong
      ? this.#draft.storeWhileTyping(fields, editor.textParts)
      : this.#draft.store({ ...fields, markdown: editor.text });
    void storing.then((isStored) => {
      // The user has typed, saved or discarded the text since.
      if (this.#isSaving() || this.#storeTimer.isWaiting || this.#storedAt !== at) return;
      form.showState(
        isStored
          ? `Stored in this browser at ${timeOf(at)}, not saved yet`
          : 'Not saved, and this browser cannot store a copy. Save soon.',
      );
    });
  }

  /** Restores the text that this tab wrote before a reload or a crash, and offers the drafts of other tabs. */
  async #restore(): Promise<void> {
    const page = this.#page;
    const { form, editor } = page;
    const isFresh = form.host.dataset.fresh !== undefined;
    const shown = [form.title.value, editor.text];
    await this.#draft.recover();
    const wanted = new URLSearchParams(location.search).get(DRAFT_PARAMETER) ?? '';
    this.#draft.goOnWith(wanted);
    this.#isRestored = true;
    const isTyped = form.title.value !== shown[0] || editor.text !== shown[1];
    const own = this.#draft.read();
    // A form that the service returned with a note is newer than the stored draft. Browsers refill forms on a reload,
    // and the user may have typed before the script was loaded.
    if (isFresh) this.store();
    else if (own) {
      this.#server.resumed(this.#draft.id);
      // Text typed before the draft was loaded becomes a draft of its own.
      if (isTyped) this.#resumeOther(own);
      else this.#resume(own);
    } else if (page.isChanged) this.changed();
    void offerDrafts(this.#draft, this.#server, {
      host: form.host,
      addNote: (note) => form.addNote(note),
      isNew: form.page === '',
      base: form.base,
      wanted,
      isChanged: () => page.isChanged,
      isSaved: ({ title, markdown }) => title === page.saved.title && markdown === page.saved.markdown,
      resume: (draft, where) => this.#resumeOther(draft, where),
    });
  }

  /** Resumes another draft. Text written here stays as its own draft and is offered later. */
  #resumeOther(draft: Draft, where?: string): void {
    if (this.#page.isChanged) {
      this.store({ isAside: true });
      this.#draft.startAnother();
    }
    this.#resume(draft, where);
  }

  #resume(draft: Draft, where?: string): void {
    const page = this.#page;
    const { form, editor } = page;
    const before = {
      title: form.title.value,
      markdown: editor.text,
      base: form.base,
      parent: form.position.parent,
    };
    if (draft.title === before.title && draft.markdown === before.markdown && !draft.pending) {
      if (!page.isChanged) this.#draft.delete();
      return;
    }
    form.title.value = draft.title;
    if (draft.parent !== undefined && form.page === '') form.parent = draft.parent;
    editor.text = draft.markdown;
    if (form.base !== '' && draft.base_revision !== '') form.base = draft.base_revision;
    page.pending = draft.pending;
    page.choices = draft.choices;
    const discard = () => {
      form.title.value = before.title;
      form.parent = before.parent;
      editor.text = before.markdown;
      if (before.base !== '') form.base = before.base;
      page.pending = undefined;
      page.choices = undefined;
      this.#storeTimer.stop();
      this.keep();
      form.showState('');
      form.host.focus();
    };
    const what = where === undefined ? 'Your unsaved changes' : `Your unsaved changes from ${where}`;
    form.addNote(
      makeNote(`${what} were restored (${timeOf(draft.at)}).`, [{ label: 'Discard changes', run: discard }]),
    );
    this.store();
  }
}
