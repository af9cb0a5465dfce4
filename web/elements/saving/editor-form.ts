/** The editor element. It dispatches `change` when the text or the title changes. */
export interface EditingElement extends HTMLElement {
  text: string;
  /** The approximate length in characters, which is cheap to read. */
  readonly textLength: number;
  /**
   * Strings whose concatenation is the text. A long text has many; parts that an edit does not touch stay the same
   * strings.
   */
  readonly textParts: readonly string[];
}

/** The editor's form, which also works without scripts: its fields and the page it belongs to. */
export class EditorForm {
  readonly host: HTMLElement;
  readonly element: HTMLFormElement;

  constructor(host: HTMLElement) {
    this.host = host;
    this.element = host.querySelector('form') as HTMLFormElement;
  }

  #field(name: string): HTMLInputElement | null {
    return this.element.querySelector(`input[name=${name}]`);
  }

  get title(): HTMLInputElement {
    return this.#field('title') as HTMLInputElement;
  }
  get wiki(): string {
    return this.host.dataset.wiki ?? '';
  }
  /** "" for a page that is not created yet. */
  get page(): string {
    return this.host.dataset.page ?? '';
  }
  /** The path of the page, or the path at which a new page will be created. */
  get path(): string {
    return this.host.dataset.path ?? '';
  }
  get user(): string {
    return this.host.dataset.user ?? '';
  }
  get api(): string {
    return `/v1/wikis/${this.wiki}`;
  }
  get base(): string {
    return this.#field('base_revision')?.value ?? '';
  }
  /** The position in the fields, and the position before editing. */
  get position() {
    const value = (name: string) => (this.#field(name)?.value ?? '').trim().replace(/^\/+|\/+$/g, '');
    return { slug: value('slug'), parent: value('parent'), wasSlug: value('was_slug'), wasParent: value('was_parent') };
  }
  /**
   * The id of the page below which a new page will be created; "" for the root, or if the user entered another parent.
   */
  get parentId(): string {
    const { parent, wasParent } = this.position;
    return parent === wasParent ? (this.host.dataset.parentId ?? '') : '';
  }
  set parent(path: string) {
    const field = this.#field('parent');
    if (field) field.value = path;
  }

  /** The revision that the text is based on; "" for a new page. */
  set base(revision: string) {
    let field = this.#field('base_revision');
    if (!field) {
      field = document.createElement('input');
      field.type = 'hidden';
      field.name = 'base_revision';
      this.element.prepend(field);
    }
    field.value = revision;
  }

  /** Binds the form to this page, also after a reload. */
  showPage({ page_id, path, slug, status }: { page_id: string; path: string; slug: string; status: string }): void {
    const root = this.host.dataset.root ?? '';
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    this.host.dataset.page = page_id;
    this.host.dataset.path = path;
    this.element.action = `${root}/-/edit/${encoded}`;
    history.replaceState(history.state, '', this.element.action);
    const parent = path.slice(0, Math.max(0, path.length - slug.length - 1));
    for (const [name, value] of Object.entries({ slug, was_slug: slug, parent, was_parent: parent })) {
      const field = this.#field(name);
      if (field) field.value = value;
    }
    const done = this.#done;
    if (done) done.href = `${root}/${encoded}`;
    this.showStatus(status === 'draft');
  }

  /** Labels the buttons for a draft or for a published page. */
  showStatus(isDraft: boolean): void {
    const [save, other] = this.element.querySelectorAll<HTMLButtonElement>('button[name=status]');
    if (!save || !other) return;
    save.value = isDraft ? 'draft' : 'published';
    save.textContent = isDraft ? 'Save as draft' : 'Save';
    other.value = isDraft ? 'published' : 'draft';
    other.textContent = isDraft ? 'Publish' : 'Save as draft';
  }

  /** The status of the page after an ordinary save. */
  get status(): string {
    return this.element.querySelector<HTMLButtonElement>('button[name=status]')?.value ?? 'published';
  }

  /** Shows the state of the text in the bar of buttons. */
  showState(words: string): void {
    const state = this.element.querySelector('.draft-state');
    if (state && state.textContent !== words) state.textContent = words;
  }

  set isBusy(busy: boolean) {
    for (const button of this.element.querySelectorAll<HTMLButtonElement>('button[name=status]')) {
      // Keep the buttons in the tab order. Their action waits.
      button.setAttribute('aria-disabled', String(busy));
    }
  }

  get #done(): HTMLAnchorElement | null {
    return this.element.querySelector('.editor-do a');
  }

  /** Relabels the link out of the editor as “Done”, because following it saves unsaved changes. */
  offerDone(onClick: (event: Event) => void): void {
    const done = this.#done;
    if (!done) return;
    done.textContent = 'Done';
    done.className = 'button';
    done.addEventListener('click', onClick);
  }

  leave(): void {
    if (this.#done) location.assign(this.#done.href);
  }

  /** Shows an error in place of the previous one. */
  show(note: HTMLElement): void {
    for (const old of this.#notes.querySelectorAll(':scope > .note[role=alert]')) old.remove();
    this.addNote(note);
  }

  /** Shows a note above the bar of buttons, which is visible at every scroll position. The newest note comes first. */
  addNote(note: HTMLElement): void {
    this.#notes.prepend(note);
  }

  get #notes(): HTMLElement {
    const bar = this.element.querySelector('.editor-do') as HTMLElement;
    const there = bar.querySelector<HTMLElement>(':scope > .editor-notes');
    if (there) return there;
    const notes = document.createElement('div');
    notes.className = 'editor-notes';
    bar.prepend(notes);
    return notes;
  }
}
