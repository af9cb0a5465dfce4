import type { FullPage } from '../../../src/pages/schema.ts';
import type { FullRevision } from '../../../src/revisions/schema.ts';
import { importSibling } from '../lazy-modules.ts';
import type { EditingElement, EditorForm } from './editor-form.ts';
import { makeNote } from './notes.ts';
import { type Obstacles, persistentCall } from './persistent-call.ts';

/**
 * Another user saved the page meanwhile: both texts are merged in the editor, on the revision that is current now.
 * Errors: ApiError.
 */
export async function mergeWithCurrent(form: EditorForm, editor: EditingElement, obstacles: Obstacles) {
  const page = `${form.api}/pages/${form.page}`;
  const [current, base] = await Promise.all([
    persistentCall<FullPage>(obstacles, 'GET', page),
    persistentCall<FullRevision>(obstacles, 'GET', `${page}/revisions/${form.base}`),
  ]);
  const { mergeTexts } = (await importSibling('conflict.js')) as typeof import('./conflict.ts');
  const merged = mergeTexts(base.markdown, editor.text, current.markdown);
  editor.text = merged.text;
  if (form.title.value === base.title) form.title.value = current.title;
  form.base = String(current.revision);
  const places = merged.conflicts === 1 ? 'one place' : `${merged.conflicts} places`;
  const note = makeNote(
    `Another user saved this page while you were editing. Nothing is lost: the text below contains both versions. ${
      merged.conflicts === 0
        ? 'Your changes and theirs are in different places. Check the text and save.'
        : `You both changed ${places}: look for the lines that begin with <<<<<<<, keep what is right, remove the marks, and save.`
    }`,
    [],
    true,
  );
  return { note, current: { title: current.title, markdown: current.markdown } };
}
