import { mergeTexts } from '../../src/markdown/merge-texts.ts';
import type { FullPage } from '../../src/pages/schema.ts';
import type { FullRevision, RevisionDiff } from '../../src/revisions/schema.ts';
import { Problem, refusedFor } from '../api.ts';
import { html } from '../html.ts';
import { refusal } from '../layout.ts';
import { findPlace, inApi, type Place, pathOf } from '../place.ts';
import { branchesAround, wayTo } from '../tree.ts';
import type { Visit, WebRoute } from '../visit.ts';
import { type Draft, draftOf, editor } from './editor-form.ts';
import { diffTable } from './history.ts';

async function found(visit: Visit) {
  const place = await findPlace(visit);
  const page = await visit.api.get<FullPage>(`${place.api}/pages/path/${inApi(pathOf(visit))}`);
  return { place, page };
}

/** The path of a page's parent. */
function above(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** What of a draft says where the page stands, as the API takes it. Errors: Problem 400 for a parent that is not there. */
async function placeAsked(visit: Visit, place: Place, { slug, parent, was_slug, was_parent }: Draft, isNew: boolean) {
  return {
    ...(slug !== '' && (isNew || slug !== was_slug) && { slug }),
    ...((isNew || parent !== was_parent) && { parent_page_id: await pageAt(visit, place, parent) }),
  };
}

async function pageAt(visit: Visit, place: Place, path: string): Promise<string> {
  if (path === '') return '';
  try {
    return (await visit.api.get<FullPage>(`${place.api}/pages/path/${inApi(path)}`)).page_id;
  } catch (error) {
    const { status, request_id } = refusedFor(error);
    if (status !== 404) throw error;
    const message = `There is no page at “${path}” that this one could stand below. Take one of the list, or none.`;
    throw new Problem(400, { error: 'invalid_request', message, request_id });
  }
}

export const editPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/edit/*',
  run: async (visit) => {
    const { place, page } = await found(visit);
    const branches = await branchesAround(visit.api, place, page.page_id);
    const { title, markdown, revision: base_revision, status, slug } = page;
    const parent = above(page.path);
    const draft = { title, markdown, base_revision, status, slug, parent, was_slug: slug, was_parent: parent };
    return editor(visit, place, { draft, page, branches, at: page.page_id });
  },
};

export const saveEdit: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/edit/*',
  run: async (visit) => {
    const { place, page } = await found(visit);
    const draft = draftOf(visit);
    const { title, markdown, base_revision, status } = draft;
    try {
      const where = await placeAsked(visit, place, draft, false);
      const wish = { title, markdown, base_revision, status, ...where };
      const saved = await visit.api.patch<FullPage>(`${place.api}/pages/${page.page_id}`, wish);
      return { redirect: place.at(saved.path) };
    } catch (error) {
      const problem = refusedFor(error);
      const branches = await branchesAround(visit.api, place, page.page_id);
      const screen = { draft, page, branches, at: page.page_id, status: problem.status };
      if (problem.code !== 'edit_conflict') return editor(visit, place, { ...screen, note: refusal(problem) });
      return editor(visit, place, { ...screen, ...(await afterConflict(visit, place, page, draft)) });
    }
  },
};

/**
 * Somebody else saved since this text was begun: both are brought together, and the writer sees what the other one did
 * and decides. Saving again is an edit of what is there now.
 */
async function afterConflict(visit: Visit, place: Place, page: FullPage, draft: Draft) {
  const from = draft.base_revision ?? page.revision;
  const [base, diff] = await Promise.all([
    visit.api.get<FullRevision>(`${place.api}/pages/${page.page_id}/revisions/${from}`),
    visit.api.get<RevisionDiff>(`${place.api}/pages/${page.page_id}/revisions/${from}/diff/${page.revision}`),
  ]);
  const { text, conflicts } = mergeTexts(base.markdown, draft.markdown, page.markdown);
  const title = draft.title === base.title ? page.title : draft.title;
  return {
    draft: { ...draft, title, markdown: text, base_revision: page.revision },
    note: html`<div class="note bad" role="alert">
      <p><strong>Somebody saved this page while you wrote.</strong> Nothing is lost: the text below holds both.
      ${
        conflicts === 0
          ? 'What you and they changed stands in different places. Look it over and save.'
          : html`${conflicts === 1 ? 'One place' : `${conflicts} places`} you both changed: look for the lines that begin with <code>&lt;&lt;&lt;&lt;&lt;&lt;&lt;</code>, keep what is right, take the marks away, and save.`
      }</p>
      ${title !== page.title && html`<p>Their title is “${page.title}”.</p>`}
      <details><summary>What they changed</summary>${diffTable(diff)}</details></div>`,
  };
}

export const newPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/new',
  run: async (visit) => {
    const place = await findPlace(visit);
    const at = visit.query.get('parent') ?? '';
    const title = (visit.query.get('title') ?? '').slice(0, 255);
    const branches = await branchesAround(visit.api, place, at);
    const parent = wayTo(branches, at).at(-1)?.path ?? '';
    const draft = { title, markdown: '', status: 'published', slug: '', parent, was_slug: '', was_parent: parent };
    return editor(visit, place, { draft, branches, at });
  },
};

export const saveNewPage: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/new',
  run: async (visit) => {
    const place = await findPlace(visit);
    const draft = draftOf(visit);
    const { title, markdown, status } = draft;
    try {
      const where = await placeAsked(visit, place, draft, true);
      const page = await visit.api.post<FullPage>(`${place.api}/pages`, { title, markdown, status, ...where });
      return { redirect: place.at(page.path) };
    } catch (error) {
      const problem = refusedFor(error);
      const branches = await branchesAround(visit.api, place);
      return editor(visit, place, { draft, branches, at: '', status: problem.status, note: refusal(problem) });
    }
  },
};
