import { READABLE } from '@ibid/documents/formats/formats.ts';
import type { Upload } from '../../src/sources/uploads/schema.ts';
import { problemForForm } from '../api.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { problemNote, renderInWiki } from '../layout.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { Visit, WebResponse, WebRoute } from '../visit.ts';
import { loadWikiContext, type WikiContext } from '../wiki-context.ts';

/** Common encodings of files that do not declare one, by their names in the Encoding Standard. */
const ENCODINGS = [
  ['', 'As declared in the files'],
  ['windows-1252', 'Western (Windows-1252)'],
  ['windows-1250', 'Central European (Windows-1250)'],
  ['windows-1251', 'Cyrillic (Windows-1251)'],
  ['shift_jis', 'Japanese (Shift-JIS)'],
  ['euc-jp', 'Japanese (EUC-JP)'],
  ['gb18030', 'Chinese (GB18030)'],
  ['big5', 'Chinese (Big5)'],
  ['euc-kr', 'Korean (EUC-KR)'],
] as const;

async function renderForm(
  visit: Visit,
  context: WikiContext,
  note: Content = false,
  status = 200,
): Promise<WebResponse> {
  const isFirst = visit.query.has('first');
  const branches = await loadBranches(visit.api, context);
  return {
    status,
    page: renderInWiki(visit, context, {
      title: 'Upload',
      tree: renderTree(context, branches),
      main: html`<article><h1>${isFirst ? 'Upload a folder' : 'Upload files'}</h1>
        <p>${isFirst ? html`Your workspace <strong>${context.workspace.name}</strong> is ready. ` : ''}${READABLE} become pages; folders and ZIP archives become the tree; links between files become links between pages. Uploading the same files again updates the pages.</p>
        ${note}
        <ibid-upload data-wiki="${context.wiki.wiki_id}" data-to="${context.actionUrl('uploads')}" data-root="${context.pageUrl()}">
        <form method="post" action="${context.actionUrl('upload')}" enctype="multipart/form-data" class="drop">
          <p>${icon('upload')}<br>Drop files or folders here, or choose them.</p>
          <div class="row-of-buttons">
          <label class="button main pick">Choose a folder<input type="file" name="files" multiple webkitdirectory></label>
          <label class="button pick">Choose files<input type="file" name="files" multiple></label>
          </div>
          <p><label><input type="checkbox" name="mode" value="sync"> Keep in sync with this folder</label><br><span class="small">Renamed files keep their pages. Pages whose files are missing are listed for you to keep or delete.</span></p>
          <details class="small"><summary>Files not encoded in UTF-8</summary><p><label>Encoding <select name="encoding">${ENCODINGS.map(([label, name]) => html`<option value="${label}">${name}</option>`)}</select></label></p></details>
          <noscript><p><button class="button main">Upload selected files</button></p></noscript>
        </form>
        </ibid-upload>
        ${isFirst && context.can('pages:write') && html`<p class="small">Or <a href="${context.actionUrl('new')}">write the first page yourself</a>.</p>`}
        <p class="small"><a href="${context.actionUrl('uploads')}">Earlier uploads</a></p></article>`,
    }),
  };
}

export const upload: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/upload',
  handle: async (visit) => renderForm(visit, await loadWikiContext(visit)),
};

/** The target of the form without scripts. Streams the files to the API. */
export const sendUpload: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/upload',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    try {
      const made = await visit.api.stream<Upload>(`${context.api}/uploads`, visit.request.raw);
      return { redirect: context.actionUrl('uploads', made.upload_id) };
    } catch (error) {
      const problem = problemForForm(error);
      return renderForm(visit, context, problemNote(problem), problem.status);
    }
  },
};
