import { numberedPageSlug, pageSlugFrom } from '@ibid/markdown/slugs/page-slug.ts';
import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import { fillTemplate } from '../../../src/wiki/templates/fill-template.ts';
import { ApiError } from '../call-api.ts';
import { importSibling } from '../lazy-modules.ts';
import type { EditingElement, EditorForm } from './editor-form.ts';
import { type Obstacles, type PendingWrite, persistentCall, randomId } from './persistent-call.ts';
import { renameHeading } from './rename-heading.ts';

/** The title of a page that was created before the user gave it one. */
const UNTITLED = 'Untitled';

/** Numbers appended to a slug when other pages have the same title. */
const SLUG_NUMBERS = [2, 3, 4, 5, 6, 7, 8, 9];

/**
 * Returns the request that saves the current form. Throws ApiError 400 for a parent that does not exist, or for a text
 * with conflict markers.
 */
export async function preparePageWrite(
  form: EditorForm,
  editor: EditingElement,
  savedTitle: string,
  { status, isForAttachments = false }: { status: string; isForAttachments?: boolean },
  obstacles: Obstacles,
): Promise<PendingWrite> {
  const { slug, parent, wasSlug, wasParent } = form.position;
  const isNew = form.page === '';
  const parentId = isNew || parent !== wasParent ? await pageIdAt(form.api, parent, obstacles) : undefined;
  const title = form.title.value.trim() === '' && isForAttachments ? UNTITLED : form.title.value;
  const { dataset } = form.host;
  // The page comes from a template, and its title is known now.
  if (dataset.template !== undefined && !isForAttachments) {
    const filled = fillTemplate(editor.text, { title: title.trim() });
    if (filled !== editor.text) editor.text = filled;
    delete dataset.template;
  }
  const written = editor.text;
  await refuseMarks(written);
  const markdown = isNew ? written : renameHeading(written, savedTitle, title);
  if (markdown !== written) editor.text = markdown;
  // The slug was made before the page had a title.
  const isUntitled = !isNew && slug === wasSlug && savedTitle === UNTITLED && title !== UNTITLED;
  const newSlug = isUntitled ? pageSlugFrom(title, 'page') : slug;
  // The user did not choose this slug, so another one will do.
  const otherSlugs = isUntitled && SLUG_NUMBERS.map((n) => numberedPageSlug(newSlug, n));
  return {
    key: randomId(),
    method: isNew ? 'POST' : 'PATCH',
    path: isNew ? `${form.api}/pages` : `${form.api}/pages/${form.page}`,
    body: {
      title,
      markdown,
      status,
      ...(!isNew && { base_revision: Number(form.base) }),
      ...(newSlug !== '' && (isNew || newSlug !== wasSlug) && { slug: newSlug }),
      ...(parentId !== undefined && { parent_page_id: parentId }),
    },
    ...(otherSlugs && { otherSlugs }),
  };
}

async function pageIdAt(api: string, path: string, obstacles: Obstacles): Promise<string> {
  if (path === '') return '';
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  try {
    return (await persistentCall<FullPage>(obstacles, 'GET', `${api}/pages/path/${encoded}`)).page_id;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    const message = `There is no page at “${path}”. Choose a parent from the list, or none.`;
    throw new ApiError(400, { error: 'invalid_request', message, request_id: error.request_id });
  }
}

/** Refuses conflict markers, which readers would see. */
async function refuseMarks(text: string): Promise<void> {
  if (!text.includes('<<<<<<<') && !text.includes('>>>>>>>')) return;
  const { conflictMarkLine } = (await importSibling('conflict.js')) as typeof import('./conflict.ts');
  const line = conflictMarkLine(text);
  if (line === undefined) return;
  const message = `The text still has conflict markers, first in line ${line}. Keep the text you want between <<<<<<< and >>>>>>>, remove the markers, and save again.`;
  throw new ApiError(400, { error: 'invalid_request', message });
}
