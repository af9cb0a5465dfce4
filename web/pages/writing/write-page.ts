import { conflictMarkLine, mergeTexts, withLineEndsOf } from '@ibid/markdown/compare/merge-texts.ts';
import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import type { FullRevision, RevisionDiff } from '../../../src/wiki/revisions/schema.ts';
import { fillTemplate } from '../../../src/wiki/templates/fill-template.ts';
import { Problem, problemForForm } from '../../api.ts';
import { renameHeading } from '../../elements/saving/rename-heading.ts';
import { html } from '../../html.ts';
import { problemNote } from '../../layout.ts';
import { loadBranches, trailTo } from '../../tree.ts';
import type { Visit, WebRoute } from '../../visit.ts';
import { encodePath, loadWikiContext, requestedPath, requirePermission, type WikiContext } from '../../wiki-context.ts';
import { diffTable } from '../history.ts';
import { type Draft, draftFromForm, newPagePath, renderEditor } from './editor-form.ts';
import { loadTemplate, offeredTemplates } from './templates.ts';

async function loadPage(visit: Visit) {
  const context = await loadWikiContext(visit);
  const page = await visit.api.get<FullPage>(`${context.api}/pages/path/${encodePath(requestedPath(visit))}`);
  return { context, page };
}

function parentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/**
 * Returns the changed slug and parent of a draft as API fields. Throws Problem 400 for a parent that does not exist.
 */
async function requestedPosition(
  visit: Visit,
  context: WikiContext,
  { slug, parent, was_slug, was_parent }: Draft,
  isNew: boolean,
) {
  return {
    ...(slug !== '' && (isNew || slug !== was_slug) && { slug }),
    ...((isNew || parent !== was_parent) && { parent_page_id: await pageIdAt(visit, context, parent) }),
  };
}

async function pageIdAt(visit: Visit, context: WikiContext, path: string): Promise<string> {
  if (path === '') return '';
  try {
    return (await visit.api.get<FullPage>(`${context.api}/pages/path/${encodePath(path)}`)).page_id;
  } catch (error) {
    const { status, request_id } = problemForForm(error);
    if (status !== 404) throw error;
    const message = `There is no page at “${path}”. Choose a parent from the list, or none.`;
    throw new Problem(400, { error: 'invalid_request', message, request_id });
  }
}

export const editPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/edit/*',
  handle: async (visit) => {
    const { context, page } = await loadPage(visit);
    requirePermission(visit, context, 'pages:write');
    const branches = await loadBranches(visit.api, context, page.page_id);
    const { title, markdown, revision: base_revision, status, slug } = page;
    const parent = parentPath(page.path);
    const draft = { title, markdown, base_revision, status, slug, parent, was_slug: slug, was_parent: parent };
    return renderEditor(visit, context, { draft, page, branches, trailEnd: page.page_id });
  },
};

/** Redirects to the editor of a page given by its id, as in links to unsaved texts. */
export const editPageById: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/edit',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const page_id = encodeURIComponent(visit.query.get('page') ?? '');
    const { path } = await visit.api.get<FullPage>(`${context.api}/pages/${page_id}`);
    return { redirect: context.actionUrl('edit', path) };
  },
};

export const saveEdit: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/edit/*',
  handle: async (visit) => {
    const { context, page } = await loadPage(visit);
    const posted = draftFromForm(visit);
    const draft = { ...posted, markdown: withLineEndsOf(posted.markdown, page.markdown) };
    const { title, base_revision, status } = draft;
    const marked = conflictMarkLine(draft.markdown);
    if (marked !== undefined) {
      const branches = await loadBranches(visit.api, context, page.page_id);
      const note = html`<div class="note bad" role="alert"><p>Nothing was saved: the text still contains conflict markers, first in line ${marked}. Keep the right text between <code>&lt;&lt;&lt;&lt;&lt;&lt;&lt;</code> and <code>&gt;&gt;&gt;&gt;&gt;&gt;&gt;</code>, remove the markers, and save again.</p></div>`;
      return renderEditor(visit, context, { draft, page, branches, trailEnd: page.page_id, status: 409, note });
    }
    const markdown = renameHeading(draft.markdown, page.title, title);
    try {
      const position = await requestedPosition(visit, context, draft, false);
      const update = { title, markdown, base_revision, status, ...position };
      const saved = await visit.api.patch<FullPage>(`${context.api}/pages/${page.page_id}`, update);
      return { redirect: context.pageUrl(saved.path) };
    } catch (error) {
      const problem = problemForForm(error);
      const branches = await loadBranches(visit.api, context, page.page_id);
      const form = { draft, page, branches, trailEnd: page.page_id, status: problem.status };
      if (problem.code !== 'edit_conflict')
        return renderEditor(visit, context, { ...form, note: problemNote(problem) });
      return renderEditor(visit, context, { ...form, ...(await mergeConflict(visit, context, page, draft)) });
    }
  },
};

/**
 * Another user has saved the page since the form was rendered: merges both texts and shows the other user's changes.
 * The merged draft is based on the current revision.
 */
async function mergeConflict(visit: Visit, context: WikiContext, page: FullPage, draft: Draft) {
  const from = draft.base_revision ?? page.revision;
  const [base, diff] = await Promise.all([
    visit.api.get<FullRevision>(`${context.api}/pages/${page.page_id}/revisions/${from}`),
    visit.api.get<RevisionDiff>(`${context.api}/pages/${page.page_id}/revisions/${from}/diff/${page.revision}`),
  ]);
  const { text, conflicts } = mergeTexts(base.markdown, draft.markdown, page.markdown);
  const title = draft.title === base.title ? page.title : draft.title;
  return {
    draft: { ...draft, title, markdown: text, base_revision: page.revision },
    note: html`<div class="note bad" role="alert">
      <p><strong>Another user saved this page while you were editing.</strong> The text below contains both versions.
      ${
        conflicts === 0
          ? 'Your changes and theirs do not overlap. Check the text and save.'
          : html`You both changed ${conflicts === 1 ? 'the same text' : `the same text in ${conflicts} places`}. Find the lines that start with <code>&lt;&lt;&lt;&lt;&lt;&lt;&lt;</code>, keep the text you want, remove the markers, and save.`
      }</p>
      ${title !== page.title && html`<p>Their title is “${page.title}”.</p>`}
      <details><summary>Their changes</summary>${diffTable(diff)}</details></div>`,
  };
}

export const newPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/new',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    requirePermission(visit, context, 'pages:write');
    const trailEnd = visit.query.get('parent') ?? '';
    const template = visit.query.get('template');
    const branches = await loadBranches(visit.api, context, trailEnd);
    const parent = trailTo(branches, trailEnd).at(-1)?.path ?? '';
    const place = { status: 'published', slug: '', parent, was_slug: '', was_parent: parent };
    const given = (visit.query.get('title') ?? '').slice(0, 255);
    if (template !== null) {
      const { title, markdown } = await loadTemplate(visit, context, template, newPagePath(parent));
      const draft = { ...place, title: given || title, markdown, isFromTemplate: true };
      return renderEditor(visit, context, { draft, branches, trailEnd });
    }
    const beginWith = await offeredTemplates(visit, context, trailEnd);
    return renderEditor(visit, context, {
      draft: { ...place, title: given, markdown: '' },
      branches,
      trailEnd,
      beginWith,
    });
  },
};

export const saveNewPage: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/new',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const draft = draftFromForm(visit);
    const { title, markdown } = draft.isFromTemplate ? withVariables(context, draft) : draft;
    const { status } = draft;
    try {
      const where = await requestedPosition(visit, context, draft, true);
      const page = await visit.api.post<FullPage>(`${context.api}/pages`, { title, markdown, status, ...where });
      return { redirect: context.pageUrl(page.path) };
    } catch (error) {
      const problem = problemForForm(error);
      const branches = await loadBranches(visit.api, context);
      return renderEditor(visit, context, {
        draft,
        branches,
        trailEnd: '',
        status: problem.status,
        note: problemNote(problem),
      });
    }
  },
};

/** Replaces the variables of a template with the service's values, for users without scripts. */
function withVariables({ user }: WikiContext, draft: Draft): { title: string; markdown: string } {
  const values = { date: new Date().toISOString().slice(0, 10), author: user.display_name };
  const title = fillTemplate(draft.title, values).trim();
  return { title, markdown: fillTemplate(draft.markdown, { ...values, title }) };
}
