import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { ApiError, errorMessage } from '../call-api.ts';
import { EditedPage } from './edited-page.ts';
import type { EditingElement, EditorForm } from './editor-form.ts';
import { mergeWithCurrent } from './merge-with-current.ts';
import { makeNote, timeOf } from './notes.ts';
import { type PendingWrite, persistentCall, withNextSlug } from './persistent-call.ts';
import { preparePageWrite } from './prepare-page-write.ts';
import { showSavedPage } from './show-saved-page.ts';
import { signInAgain } from './sign-in-again.ts';
import { UnsavedText } from './unsaved-text.ts';

interface Wanted {
  status: string;
  /** Whether to open the page after saving. */
  leaves?: boolean;
  /** Set if the page is created only to attach files: it has no title yet and is not published. */
  isForAttachments?: boolean;
}

/** Saves the page of an editor, and keeps unsaved text until then. */
export class PageSaving {
  readonly #page: EditedPage;
  readonly #unsaved: UnsavedText;
  #wanted: Wanted | undefined;
  #running: Promise<void> | undefined;
  #hasWaited = false;
  readonly #obstacles = {
    waits: () => {
      this.#hasWaited = true;
      this.#form.showState('The service cannot be reached. Your text will be saved as soon as it is back.');
    },
    signIn: async () => {
      const signedIn = this.signIn();
      this.#form.showState('Not saved: you are signed out');
      await signedIn;
      this.#form.showState('Saving…');
    },
  };

  constructor(editor: EditingElement) {
    this.#page = new EditedPage(editor);
    this.#unsaved = new UnsavedText(this.#page, () => this.#running !== undefined);
    editor.addEventListener('change', ({ target }) => target === editor && this.#unsaved.changed());
    this.#form.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.save({ status: (event.submitter as HTMLButtonElement | null)?.value || this.#form.status });
    });
    this.#form.offerDone((event) => {
      if (!this.#page.isChanged && !this.#running) return;
      event.preventDefault();
      this.save({ status: this.#form.status, leaves: true });
    });
  }

  get #form(): EditorForm {
    return this.#page.form;
  }

  /** Saves as the main button does and stays in the editor. */
  saveAsIs(): void {
    this.save({ status: this.#form.status });
  }

  save(wanted: Wanted): void {
    if (!wanted.isForAttachments && !this.#form.element.reportValidity()) return;
    this.#wanted = wanted;
    if (this.#running) return;
    const running = this.#run().finally(() => {
      this.#form.isBusy = false;
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
  }

  /**
   * Returns the API path of the page's attachments. Creates a new page as a draft first, so that files can be attached
   * to it. Throws Error if that fails.
   */
  async attachmentsUrl(): Promise<string> {
    if (this.#form.page === '') {
      this.save({ status: 'draft', isForAttachments: true });
      await this.#running;
    }
    if (this.#form.page === '') throw new Error('the page could not be created');
    return `${this.#form.api}/pages/${this.#form.page}/attachments`;
  }

  signIn(): Promise<void> {
    this.#unsaved.store();
    return signInAgain((note) => this.#form.addNote(note), this.#form.user);
  }

  async #run(): Promise<void> {
    this.#form.isBusy = true;
    try {
      await this.#unsaved.restored;
      for (let wanted = this.#wanted; wanted; wanted = this.#wanted) {
        this.#hasWaited = false;
        // Finish an unanswered write first: its result decides which revision this write is based on.
        if (this.#page.pending) await this.#send();
        this.#form.showState('Saving…');
        this.#page.pending = await preparePageWrite(
          this.#form,
          this.#page.editor,
          this.#page.saved.title,
          wanted,
          this.#obstacles,
        );
        await this.#send(wanted.isForAttachments);
        // Also save the text typed while the service was unreachable.
        if (this.#hasWaited && this.#page.isChanged) continue;
        if (this.#wanted === wanted) this.#wanted = undefined;
        if (wanted.leaves && !this.#page.isChanged) this.#form.leave();
      }
    } catch (error) {
      const leaves = this.#wanted?.leaves === true;
      this.#wanted = undefined;
      await this.#refused(error, leaves);
    }
  }

  /**
   * Sends the pending write until it is answered. Throws ApiError if the service refuses the write, which is then no
   * longer pending.
   */
  async #send(isForAttachments = false): Promise<void> {
    const write = this.#page.pending as PendingWrite;
    this.#unsaved.store();
    this.#form.showState('Saving…');
    try {
      const page = await persistentCall<FullPage>(this.#obstacles, write.method, write.path, write.body, write.key);
      this.#page.pending = undefined;
      this.#wasSaved(page, write, isForAttachments);
    } catch (error) {
      // After a 5xx the write may have been carried out, or may still be, so it stays pending.
      if (!(error instanceof ApiError) || error.status < 500) this.#page.pending = undefined;
      const next = error instanceof ApiError && error.code === 'slug_taken' ? withNextSlug(write) : undefined;
      if (!next) throw error;
      this.#page.pending = next;
      await this.#send(isForAttachments);
    }
  }

  #wasSaved(page: FullPage, { body }: PendingWrite, isForAttachments: boolean): void {
    const isNew = this.#form.page === '';
    const before = { title: this.#page.saved.title, path: this.#form.path, status: isNew ? '' : this.#form.status };
    for (const note of this.#form.host.querySelectorAll('.note')) note.remove();
    this.#page.choices = undefined;
    this.#page.saved = { title: body.title, markdown: body.markdown };
    this.#form.base = String(page.revision);
    this.#form.showPage({ ...page, status: isForAttachments ? 'published' : page.status });
    if (isNew) this.#unsaved.moveToPage();
    showSavedPage(page, before);
    this.#unsaved.keep();
    this.#form.showState(isForAttachments ? 'Not published yet' : `Saved at ${timeOf(Date.now())}`);
  }

  async #refused(error: unknown, leaves: boolean): Promise<void> {
    this.#unsaved.store();
    if (error instanceof ApiError && error.code === 'edit_conflict') {
      const merged = await mergeWithCurrent(this.#page, this.#obstacles, () => this.#unsaved.store());
      if (merged === undefined) return this.#chooseLater(leaves);
      this.#page.saved = merged.current;
      if (!merged.isChosen) this.#form.show(merged.note);
      this.#running = undefined;
      this.#unsaved.store();
      // Save the chosen text on the revision that it was chosen against.
      if (merged.isChosen) this.save({ status: this.#form.status, leaves });
      return;
    }
    const words = error instanceof ApiError ? errorMessage(error) : (error as Error).message;
    this.#form.showState('Not saved');
    this.#form.show(makeNote(`Your changes were not saved. ${words}`, [], true));
  }

  /** Keeps the text and its base revision, so that the next save asks again. */
  #chooseLater(leaves: boolean): void {
    this.#form.showState('Not saved yet');
    const words =
      'Not saved yet. Another user saved the page while you were editing, and you both changed the same text. Your version is kept.';
    const choose = { label: 'Resolve conflicts', run: () => this.save({ status: this.#form.status, leaves }) };
    this.#form.show(makeNote(words, [choose], true));
    this.#form.host.focus();
  }
}
