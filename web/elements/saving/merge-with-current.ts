import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import type { FullRevision } from '../../../src/wiki/revisions/schema.ts';
import { importSibling } from '../lazy-modules.ts';
import type { EditedPage } from './edited-page.ts';
import { makeNote } from './notes.ts';
import { type Obstacles, persistentCall } from './persistent-call.ts';

/**
 * Merges the text with a revision that another user saved since, and bases the editor on that revision. Where both
 * changed the same place, the user chooses; `keep` is called with each choice, so that it survives a crash. Returns
 * undefined, and changes nothing, if the user cancels. Throws ApiError.
 */
export async function mergeWithCurrent(page: EditedPage, obstacles: Obstacles, keep: () => void) {
  const { form, editor } = page;
  const path = `${form.api}/pages/${form.page}`;
  const [current, base] = await Promise.all([
    persistentCall<FullPage>(obstacles, 'GET', path),
    persistentCall<FullRevision>(obstacles, 'GET', `${path}/revisions/${form.base}`),
  ]);
  const { mergeTexts, chooseVersions } = (await importSibling('conflict.js')) as typeof import('./conflict.ts');
  const mine = editor.text;
  const merged = mergeTexts(base.markdown, mine, current.markdown);
  const isChosen = merged.conflicts > 0;
  const text = isChosen
    ? await chooseVersions(base.markdown, mine, current.markdown, page.choices, (choices) => {
        page.choices = choices;
        keep();
      })
    : merged.text;
  if (text === undefined) return undefined;
  editor.text = text;
  if (form.title.value === base.title) form.title.value = current.title;
  form.base = String(current.revision);
  const words =
    'Another user saved this page while you were editing. Your changes and theirs do not overlap, so the text now ' +
    'contains both. Check it and save.';
  return {
    note: makeNote(words, [], true),
    current: { title: current.title, markdown: current.markdown },
    isChosen,
  };
}
