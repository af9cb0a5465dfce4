import type { FullPage } from '../../../src/pages/schema.ts';
import type { FullRevision } from '../../../src/revisions/schema.ts';
import { importSibling } from '../lazy-modules.ts';
import type { EditingElement, EditorForm } from './editor-form.ts';
import { makeNote } from './notes.ts';
import { type Obstacles, persistentCall } from './persistent-call.ts';

/**
 * Another user saved the page meanwhile: both texts are merged in the editor, on the revision that is current now. Where
 * both changed the same place, the user chooses; who does not choose gets both, between conflict markers. Errors: ApiError.
 */
export async function mergeWithCurrent(form: EditorForm, editor: EditingElement, obstacles: Obstacles) {
  const page = `${form.api}/pages/${form.page}`;
  const [current, base] = await Promise.all([
    persistentCall<FullPage>(obstacles, 'GET', page),
    persistentCall<FullRevision>(obstacles, 'GET', `${page}/revisions/${form.base}`),
  ]);
  const { mergeTexts, chooseVersions } = (await importSibling('conflict.js')) as typeof import('./conflict.ts');
  const mine = editor.text;
  const merged = mergeTexts(base.markdown, mine, current.markdown);
  const chosen = merged.conflicts > 0 ? await chooseVersions(base.markdown, mine, current.markdown) : undefined;
  editor.text = chosen ?? merged.text;
  if (form.title.value === base.title) form.title.value = current.title;
  form.base = String(current.revision);
  const what =
    merged.conflicts === 0
      ? 'Your changes and theirs are in different places. Check the text and save.'
      : 'Look for the lines that begin with <<<<<<<, keep what is right, remove the marks, and save.';
  const words = `Another user saved this page while you were editing. Nothing is lost: the text below contains both versions. ${what}`;
  const note = makeNote(words, [], true);
  return { note, current: { title: current.title, markdown: current.markdown }, isChosen: chosen !== undefined };
}
