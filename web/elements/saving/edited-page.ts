import { type EditingElement, EditorForm } from './editor-form.ts';
import type { PendingWrite } from './persistent-call.ts';
import type { KeptChoice } from './stored-drafts.ts';

/** A page in the editor: its form, its text and its last saved state. */
export class EditedPage {
  readonly form: EditorForm;
  readonly editor: EditingElement;
  saved: { title: string; markdown: string };
  /** A write that has not been answered. */
  pending: PendingWrite | undefined;
  /** The choices made so far in places that another user changed too. */
  choices: KeptChoice[] | undefined;

  constructor(editor: EditingElement) {
    this.form = new EditorForm(editor);
    this.editor = editor;
    const area = this.form.element.querySelector('textarea') as HTMLTextAreaElement;
    this.saved = { title: this.form.title.defaultValue, markdown: area.defaultValue };
  }

  get isChanged(): boolean {
    const { slug, parent, wasSlug, wasParent } = this.form.position;
    const { title, markdown } = this.saved;
    return this.form.title.value !== title || this.editor.text !== markdown || slug !== wasSlug || parent !== wasParent;
  }
}
