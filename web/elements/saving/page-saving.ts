import type { FullPage } from '../../../src/pages/schema.ts';
import { ApiError, errorMessage } from '../call-api.ts';
import type { Draft } from './drafts.ts';
import { type EditingElement, EditorForm } from './editor-form.ts';
import { LocalDraft } from './local-draft.ts';
import { mergeWithCurrent } from './merge-with-current.ts';
import { makeNote, timeOf } from './notes.ts';
import { offerDrafts } from './offer-drafts.ts';
import { PauseTimer } from './pause-timer.ts';
import { type PendingWrite, persistentCall, withNextSlug } from './persistent-call.ts';
import { preparePageWrite } from './prepare-page-write.ts';
import { ServerDraft } from './server-draft.ts';
import { signInAgain } from './sign-in-again.ts';

interface Wanted {
  status: string;
  /** Whether the page is opened when it is saved. */
  leaves?: boolean;
  /** A page that is created for the sake of its attachments has no title yet and is not published. */
  isForAttachments?: boolean;
}

/** Saves the page of an editor, and keeps what is not saved: in the browser, until the service has it. */
export class PageSaving {
  readonly #form: EditorForm;
  readonly #editor: EditingElement;
  readonly #draft: LocalDraft;
  readonly #server: ServerDraft;
  #saved: { title: string; markdown: string };
  /** How much typing a crash may lose. */
  readonly #storeTimer = new PauseTimer(() => this.#store(true));
  #wanted: Wanted | undefined;
  #running: Promise<void> | undefined;
  #pending: PendingWrite | undefined;
  #hasWaited = false;
  /** When the draft that is stored was written, in milliseconds since 1970; 0 where there is none. */
  #storedAt = 0;
  /** Until then nothing is stored: it could replace what is to be restored. */
  #isRestored = false;
  readonly #restored: Promise<void>;
  readonly #obstacles = {
    waits: () => {
      this.#hasWaited = true;
      this.#form.showState('The service cannot be reached. It will be saved as soon as it can.');
    },
    signIn: () => this.signIn(),
  };

  constructor(editor: EditingElement) {
    this.#form = new EditorForm(editor);
    this.#editor = editor;
    this.#saved = { title: this.#form.title.defaultValue, markdown: this.#area.defaultValue };
    this.#draft = new LocalDraft(this.#form);
    this.#server = new ServerDraft(this.#form, () => ({
      id: this.#draft.id,
      title: this.#form.title.value,
      markdown: editor.text,
    }));
    editor.addEventListener('change', ({ target }) => target === editor && this.#changed());
    this.#form.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.save({ status: (event.submitter as HTMLButtonElement | null)?.value || this.#form.status });
    });
    this.#form.offerDone((event) => {
      if (!this.#isChanged && !this.#running) return;
      event.preventDefault();
      this.save({ status: this.#form.status, leaves: true });
    });
    addEventListener('pagehide', () => (this.#storeTimer.isWaiting || this.#draft.isBehind) && this.#store());
    this.#restored = this.#restore();
  }

  get #area(): HTMLTextAreaElement {
    return this.#form.element.querySelector('textarea') as HTMLTextAreaElement;
  }

  get #isChanged(): boolean {
    const { slug, parent, wasSlug, wasParent } = this.#form.position;
    const { title, markdown } = this.#saved;
    return (
      this.#form.title.value !== title || this.#editor.text !== markdown || slug !== wasSlug || parent !== wasParent
    );
  }

  /** Typing does not put off that it is stored. */
  #changed(): void {
    this.#server.schedule(this.#editor.textLength);
    if (!this.#isRestored) return;
    if (this.#storeTimer.isWaiting) return;
    if (!this.#running) this.#form.showState('Not saved yet');
    this.#storeTimer.start(this.#editor.textLength);
  }

  /** Saves as the main button does, and stays in the editor. */
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

  /** The API path of the page's attachments. A new page is created as a draft, so that it can have some. Errors: Error. */
  async attachmentsUrl(): Promise<string> {
    if (this.#form.page === '') {
      this.save({ status: 'draft', isForAttachments: true });
      await this.#running;
    }
    if (this.#form.page === '') throw new Error('the page could not be created');
    return `${this.#form.api}/pages/${this.#form.page}/attachments`;
  }

  signIn(): Promise<void> {
    this.#store();
    return signInAgain(this.#form.host, this.#form.user);
  }

  async #run(): Promise<void> {
    this.#form.isBusy = true;
    try {
      await this.#restored;
      for (let wanted = this.#wanted; wanted; wanted = this.#wanted) {
        this.#hasWaited = false;
        // A write without an answer goes first: what it did decides what this one is based on.
        if (this.#pending) await this.#send();
        this.#form.showState('Saving…');
        this.#pending = await preparePageWrite(this.#form, this.#editor, this.#saved.title, wanted, this.#obstacles);
        await this.#send(wanted.isForAttachments);
        // What was typed while the service could not be reached is saved with it.
        if (this.#hasWaited && this.#isChanged) continue;
        if (this.#wanted === wanted) this.#wanted = undefined;
        if (wanted.leaves && !this.#isChanged) this.#form.leave();
      }
    } catch (error) {
      const leaves = this.#wanted?.leaves === true;
      this.#wanted = undefined;
      await this.#refused(error, leaves);
    }
  }

  /** Sends what is pending until it is answered. Errors: ApiError of a refusal, after which it is not pending. */
  async #send(isForAttachments = false): Promise<void> {
    const write = this.#pending as PendingWrite;
    this.#store();
    this.#form.showState('Saving…');
    try {
      const page = await persistentCall<FullPage>(this.#obstacles, write.method, write.path, write.body, write.key);
      this.#pending = undefined;
      this.#wasSaved(page, write, isForAttachments);
    } catch (error) {
      // After a fault of the service it may have been done, or may yet be.
      if (!(error instanceof ApiError) || error.status < 500) this.#pending = undefined;
      const next = error instanceof ApiError && error.code === 'slug_taken' ? withNextSlug(write) : undefined;
      if (!next) throw error;
      this.#pending = next;
      await this.#send(isForAttachments);
    }
  }

  #wasSaved(page: FullPage, { body }: PendingWrite, isForAttachments: boolean): void {
    const isNew = this.#form.page === '';
    for (const note of this.#form.host.querySelectorAll('.note')) note.remove();
    this.#saved = { title: body.title, markdown: body.markdown };
    this.#form.base = String(page.revision);
    this.#form.showPage({ ...page, status: isForAttachments ? 'published' : page.status });
    if (isNew) this.#draft.moveToPage();
    if (this.#isChanged) this.#store();
    else this.#discard();
    this.#form.showState(isForAttachments ? 'Not published yet' : `Saved at ${timeOf(Date.now())}`);
  }

  async #refused(error: unknown, leaves: boolean): Promise<void> {
    this.#store();
    if (error instanceof ApiError && error.code === 'edit_conflict') {
      const merged = await mergeWithCurrent(this.#form, this.#editor, this.#obstacles);
      this.#saved = merged.current;
      if (!merged.isChosen) this.#form.show(merged.note);
      this.#running = undefined;
      this.#store();
      // What was chosen is saved on the revision that it was chosen against.
      if (merged.isChosen) this.save({ status: this.#form.status, leaves });
      return;
    }
    const words = error instanceof ApiError ? errorMessage(error) : (error as Error).message;
    this.#form.show(makeNote(`This was not saved. ${words}`, [], true));
  }

  /** There is nothing that is not saved. */
  #discard(): void {
    this.#storedAt = 0;
    this.#draft.delete();
    this.#server.delete();
  }

  #store(isTyping = false): void {
    if (!this.#isRestored) return;
    this.#storeTimer.stop();
    const at = Date.now();
    const draft: Draft = {
      title: this.#form.title.value,
      markdown: this.#editor.text,
      base_revision: this.#form.base,
      parent: this.#form.position.parent,
      at,
      ...(this.#pending && { pending: this.#pending }),
    };
    this.#storedAt = at;
    void this.#draft.store(draft, isTyping).then((isStored) => {
      // It was typed on, saved or discarded meanwhile.
      if (this.#running || this.#storeTimer.isWaiting || this.#storedAt !== at) return;
      this.#form.showState(
        isStored
          ? `Stored in this browser at ${timeOf(at)}, not saved yet`
          : 'Not saved, and this browser cannot store it: save soon',
      );
    });
  }

  /** Goes on with what this tab had written before a reload or a crash, and offers what other tabs left. */
  async #restore(): Promise<void> {
    const isFresh = this.#form.host.dataset.fresh !== undefined;
    const shown = [this.#form.title.value, this.#editor.text];
    await this.#draft.recover();
    this.#isRestored = true;
    const isTyped = this.#form.title.value !== shown[0] || this.#editor.text !== shown[1];
    const own = this.#draft.read();
    // A form that the service returned with a note is newer than what is stored. Browsers refill forms on a reload, and
    // the user may have typed before the script was loaded.
    if (isFresh) this.#store();
    else if (own) {
      this.#server.resumed(this.#draft.id);
      // What was typed before it was known becomes a draft of its own.
      if (isTyped) this.#resumeOther(own);
      else this.#resume(own);
    } else if (this.#isChanged) this.#changed();
    void offerDrafts(this.#draft, this.#server, {
      host: this.#form.host,
      isNew: this.#form.page === '',
      isChanged: () => this.#isChanged,
      isSaved: ({ title, markdown }) => title === this.#saved.title && markdown === this.#saved.markdown,
      resume: (draft) => this.#resumeOther(draft),
    });
  }

  /** What was written here stays as a draft of its own. */
  #resumeOther(draft: Draft): void {
    if (this.#isChanged) {
      this.#store();
      this.#draft.startAnother();
    }
    this.#resume(draft);
  }

  #resume(draft: Draft): void {
    const form = this.#form;
    const before = {
      title: form.title.value,
      markdown: this.#editor.text,
      base: form.base,
      parent: form.position.parent,
    };
    if (draft.title === before.title && draft.markdown === before.markdown && !draft.pending) {
      if (!this.#isChanged) this.#draft.delete();
      return;
    }
    form.title.value = draft.title;
    if (draft.parent !== undefined && form.page === '') form.parent = draft.parent;
    this.#editor.text = draft.markdown;
    if (form.base !== '' && draft.base_revision !== '') form.base = draft.base_revision;
    this.#pending = draft.pending;
    const discard = () => {
      form.title.value = before.title;
      form.parent = before.parent;
      this.#editor.text = before.markdown;
      if (before.base !== '') form.base = before.base;
      this.#pending = undefined;
      this.#storeTimer.stop();
      if (this.#isChanged) this.#store();
      else this.#discard();
      form.showState('');
    };
    const words = `Your unsaved changes were restored, as of ${timeOf(draft.at)}.`;
    form.host.prepend(makeNote(words, [{ label: 'Discard them', run: discard }]));
    this.#store();
  }
}
