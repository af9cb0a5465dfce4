import type { FullPage } from '../../../src/wiki/pages/schema.ts';
import type { Branch } from '../../elements/branch.ts';
import { LONG_TEXT } from '../../elements/saving/pause-timer.ts';
import { titleInText } from '../../elements/saving/rename-heading.ts';
import { type Content, html } from '../../html.ts';
import { renderInWiki } from '../../layout.ts';
import { breadcrumbs, renderTree, trailTo } from '../../tree.ts';
import type { Visit, WebResponse } from '../../visit.ts';
import type { WikiContext } from '../../wiki-context.ts';

export interface Draft {
  title: string;
  markdown: string;
  /** undefined for a new page. */
  base_revision?: number;
  status: string;
  /** The last segment of the page's path; "" to derive it from the title. */
  slug: string;
  /** The path of the parent page; "" at the root. */
  parent: string;
  /** Both values as rendered. An unchanged field does not move the page, even if the page was moved in the meantime. */
  was_slug: string;
  was_parent: string;
  /** Whether the text still contains the variables of a template. */
  isFromTemplate?: boolean;
}

export interface EditorForm {
  draft: Draft;
  page?: FullPage;
  note?: Content;
  beginWith?: Content;
  /** The tree around the page, for the breadcrumbs and the list of possible parents. */
  branches: readonly Branch[];
  /** The id of the last page in the breadcrumbs: the page itself, or the parent of a new page. */
  trailEnd: string;
  status?: number;
}

/**
 * Enter in a field presses the first button of a form, and does nothing if that button is disabled. Pages are saved
 * only by their own buttons.
 */
const NO_DEFAULT_BUTTON = html`<button disabled hidden></button>`;

/** Renders the editor: title, position and text of a page. */
export function renderEditor(
  visit: Visit,
  context: WikiContext,
  { draft, page, note = false, beginWith = false, branches, trailEnd, status = 200 }: EditorForm,
): WebResponse {
  const title = page ? `Edit ${page.title}` : 'New page';
  const trail = trailTo(branches, trailEnd);
  const cancelUrl = page ? context.pageUrl(page.path) : context.pageUrl(trail.at(-1)?.path ?? '');
  const isDraft = draft.status === 'draft';
  const page_path = page?.path ?? newPagePath(draft.parent);
  return {
    status,
    page: renderInWiki(visit, context, {
      title,
      kind: 'write',
      scripts: ['editor.js'],
      tree: renderTree(context, branches, page?.page_id, trailEnd),
      main: html`${breadcrumbs(context, [...trail, { path: '', title: page ? 'Edit' : 'New page' }])}
        <h1 class="sr-only">${title}</h1>
        ${note}${beginWith}
        <ibid-editor data-wiki="${context.wiki.wiki_id}" data-user="${context.user.user_id}" data-page="${page?.page_id ?? ''}" data-parent-id="${!page && trail.at(-1)?.page_id}" data-path="${page_path}" data-root="${context.pageUrl()}"${note !== false && html` data-fresh`}${draft.isFromTemplate && html` data-template`} data-author="${context.user.display_name}">
        <form method="post" action="${visit.path}" class="editor${titleInText(draft.markdown) === draft.title && draft.title !== '' && ' title-in-text'}">
          ${NO_DEFAULT_BUTTON}
          ${draft.base_revision !== undefined && html`<input type="hidden" name="base_revision" value="${draft.base_revision}">`}
          ${draft.isFromTemplate && html`<input type="hidden" name="from_template" value="yes">`}
          <label class="title-field"><span class="sr-only">Title</span><input name="title" required maxlength="255" placeholder="Title" value="${draft.title}"${draft.title === '' && html` autofocus`}></label>
          <div class="panes">
            <label class="text-field${draft.markdown.length >= LONG_TEXT && ' is-long'}"><span class="sr-only">Text, in Markdown</span><textarea name="markdown" rows="24" spellcheck="true" placeholder="Write in Markdown">
${draft.markdown}</textarea></label>
          </div>
          <div class="editor-do">
            <button class="button main" name="status" value="${isDraft ? 'draft' : 'published'}">Save${isDraft && ' as draft'}</button>
            <button class="button" name="status" value="${isDraft ? 'published' : 'draft'}">${isDraft ? 'Publish' : 'Save as draft'}</button>
            <a class="button quiet" href="${cancelUrl}">Cancel</a>
            <span class="draft-state" role="status"></span>
          </div>
          ${positionFields(context, draft, branches, page)}
        </form>
        </ibid-editor>
        ${page && deleteForm(context, page)}`,
    }),
  };
}

/** Returns a path below a parent, whose path is "" at the root. */
export function newPagePath(parent: string): string {
  return parent === '' ? 'page' : `${parent}/page`;
}

/** Renders the page's parent and slug, below the text because they are rarely changed. */
function positionFields(
  context: WikiContext,
  draft: Draft,
  branches: readonly Branch[],
  page: FullPage | undefined,
): Content {
  const { slug, parent, was_slug, was_parent } = draft;
  const isMoved = slug !== was_slug || parent !== was_parent;
  const address = `${context.pageUrl(parent)}/${slug || '…'}`;
  const possibleParents = branches.filter(({ path }) => path !== page?.path && !path.startsWith(`${page?.path}/`));
  return html`<details class="where"${isMoved && html` open`}><summary>Location and address <span class="small where-address">${address}</span></summary>
    <input type="hidden" name="was_slug" value="${was_slug}"><input type="hidden" name="was_parent" value="${was_parent}">
    <div class="where-fields">
    <label>Parent page <input name="parent" list="pages" maxlength="1024" autocomplete="off" spellcheck="false" placeholder="none (top level)" value="${parent}"></label>
    <label>URL slug <input name="slug" maxlength="48" autocomplete="off" spellcheck="false" placeholder="generated from the title" value="${slug}"></label>
    </div>
    <datalist id="pages">${possibleParents.map(({ path, title }) => html`<option value="${path}">${title}</option>`)}</datalist>
    ${page && html`<p class="small">Existing links and old addresses keep working.</p>`}</details>`;
}

function deleteForm(context: WikiContext, page: FullPage): Content {
  return html`<details class="danger"><summary>Delete this page</summary>
    <form method="post" action="${context.actionUrl('delete')}"><input type="hidden" name="page_id" value="${page.page_id}">
    <p>It moves to the trash with the pages below it. You can restore it until the date shown there.</p><button class="button bad">Delete ${page.title}</button></form></details>`;
}

export function draftFromForm({ form }: Visit): Draft {
  const base = form.get('base_revision') ?? '';
  const field = (name: string) => (form.get(name) ?? '').trim().replace(/^\/+|\/+$/g, '');
  return {
    title: form.get('title') ?? '',
    // A textarea sends each line break as CRLF.
    markdown: (form.get('markdown') ?? '').replaceAll('\r\n', '\n'),
    ...(/^[1-9]\d{0,8}$/.test(base) && { base_revision: Number(base) }),
    status: form.get('status') === 'draft' ? 'draft' : 'published',
    slug: field('slug'),
    parent: field('parent'),
    was_slug: field('was_slug'),
    was_parent: field('was_parent'),
    isFromTemplate: form.get('from_template') === 'yes',
  };
}
