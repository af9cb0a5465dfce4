import { mergeTexts } from '../../src/pages/merge-texts.ts';
import type { FullRevision, RevisionDiff } from '../../src/pages/revision-schema.ts';
import type { FullPage } from '../../src/pages/schema.ts';
import { Problem } from '../api.ts';
import { type Content, html } from '../html.ts';
import { inWiki, refusal } from '../layout.ts';
import { findPlace, inApi, type Place, pathOf } from '../place.ts';
import { branchesAround, breadcrumbs, wayTo } from '../tree.ts';
import type { Shown, Visit, WebRoute } from '../visit.ts';
import { diffTable } from './history.ts';

/** What a form of the editor holds. */
interface Draft {
  title: string;
  markdown: string;
  /** undefined for a page that is not there yet. */
  base_revision?: number;
  status: string;
  parent_page_id: string;
}

interface Screen {
  draft: Draft;
  page?: FullPage;
  note?: Content;
  /** Where the page is or will be, for what its links lead to. */
  page_path: string;
  way: readonly { path: string; title: string }[];
  status?: number;
}

function editor(
  visit: Visit,
  place: Place,
  { draft, page, note = false, page_path, way, status = 200 }: Screen,
): Shown {
  const title = page ? `Edit ${page.title}` : 'New page';
  const back = page ? place.at(page.path) : place.at(way.at(-1)?.path ?? '');
  const isDraft = draft.status === 'draft';
  return {
    status,
    page: inWiki(visit, place, {
      title,
      kind: 'write',
      scripts: ['editor.js'],
      main: html`${breadcrumbs(place, [...way, { path: '', title: page ? 'Edit' : 'New page' }])}
        <h1 class="sr-only">${title}</h1>
        ${note}
        <ibid-editor data-wiki="${place.wiki.wiki_id}" data-page="${page?.page_id ?? ''}" data-parent="${draft.parent_page_id}" data-path="${page_path}" data-root="${place.at()}"${note !== false && html` data-fresh`}>
        <form method="post" action="${visit.path}" class="editor">
          <input type="hidden" name="parent_page_id" value="${draft.parent_page_id}">
          ${draft.base_revision !== undefined && html`<input type="hidden" name="base_revision" value="${draft.base_revision}">`}
          <label class="title-field"><span class="sr-only">Title</span><input name="title" required maxlength="255" placeholder="Title" value="${draft.title}"${draft.title === '' && html` autofocus`}></label>
          <div class="panes">
            <label class="text-field"><span class="sr-only">Text, in Markdown</span><textarea name="markdown" rows="24" spellcheck="true" placeholder="Write in Markdown">
${draft.markdown}</textarea></label>
          </div>
          <div class="editor-do">
            <button class="button main" name="status" value="${isDraft ? 'draft' : 'published'}">Save${isDraft && ' as a draft'}</button>
            <button class="button" name="status" value="${isDraft ? 'published' : 'draft'}">${isDraft ? 'Publish' : 'Save as a draft'}</button>
            <a class="button quiet" href="${back}">Cancel</a>
            <span class="draft-state" role="status"></span>
          </div>
        </form>
        </ibid-editor>
        ${page && deletion(place, page)}`,
    }),
  };
}

function deletion(place: Place, page: FullPage): Content {
  return html`<details class="danger"><summary>Delete this page</summary>
    <form method="post" action="${place.to('delete')}"><input type="hidden" name="page_id" value="${page.page_id}">
    <p>It goes to the trash with the pages below it, and can be restored from there for 30 days.</p><button class="button bad">Delete ${page.title}</button></form></details>`;
}

async function found(visit: Visit) {
  const place = await findPlace(visit);
  const page = await visit.api.get<FullPage>(`${place.api}/pages/path/${inApi(pathOf(visit))}`);
  const branches = await branchesAround(visit.api, place, page.page_id);
  return { place, page, way: wayTo(branches, page.page_id) };
}

function draftOf({ form }: Visit): Draft {
  const base = form.get('base_revision') ?? '';
  return {
    title: form.get('title') ?? '',
    // A form sends every line with both of its ends.
    markdown: (form.get('markdown') ?? '').replaceAll('\r\n', '\n'),
    ...(/^[1-9]\d{0,8}$/.test(base) && { base_revision: Number(base) }),
    status: form.get('status') === 'draft' ? 'draft' : 'published',
    parent_page_id: form.get('parent_page_id') ?? '',
  };
}

export const editPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/edit/*',
  run: async (visit) => {
    const { place, page, way } = await found(visit);
    const { title, markdown, revision: base_revision, status, parent_page_id, path: page_path } = page;
    return editor(visit, place, {
      draft: { title, markdown, base_revision, status, parent_page_id },
      page,
      page_path,
      way,
    });
  },
};

export const saveEdit: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/edit/*',
  run: async (visit) => {
    const { place, page, way } = await found(visit);
    const draft = draftOf(visit);
    const { title, markdown, base_revision, status } = draft;
    try {
      const saved = await visit.api.patch<FullPage>(`${place.api}/pages/${page.page_id}`, {
        title,
        markdown,
        base_revision,
        status,
      });
      return { redirect: place.at(saved.path) };
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 401) throw error;
      const screen = { draft, page, page_path: page.path, way, status: error.status };
      if (error.code !== 'edit_conflict') return editor(visit, place, { ...screen, note: refusal(error) });
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

async function parentOf(visit: Visit, place: Place, parent: string) {
  if (parent === '') return [];
  return wayTo(await branchesAround(visit.api, place, parent), parent);
}

export const newPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/new',
  run: async (visit) => {
    const place = await findPlace(visit);
    const parent_page_id = visit.query.get('parent') ?? '';
    const title = (visit.query.get('title') ?? '').slice(0, 255);
    const way = await parentOf(visit, place, parent_page_id);
    const draft = { title, markdown: '', status: 'published', parent_page_id };
    return editor(visit, place, { draft, page_path: `${way.at(-1)?.path ?? ''}/page`.replace(/^\//, ''), way });
  },
};

export const saveNewPage: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/new',
  run: async (visit) => {
    const place = await findPlace(visit);
    const draft = draftOf(visit);
    const { title, markdown, status, parent_page_id } = draft;
    try {
      const page = await visit.api.post<FullPage>(`${place.api}/pages`, { title, markdown, status, parent_page_id });
      return { redirect: place.at(page.path) };
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 401) throw error;
      const way = await parentOf(visit, place, '');
      return editor(visit, place, { draft, page_path: 'page', way, status: error.status, note: refusal(error) });
    }
  },
};
