import type { Upload } from '../../src/uploads/schema.ts';
import { refusedFor } from '../api.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki, refusal } from '../layout.ts';
import { findPlace, type Place } from '../place.ts';
import { branchesAround, treeOf } from '../tree.ts';
import type { Shown, Visit, WebRoute } from '../visit.ts';

async function form(visit: Visit, place: Place, note: Content = false, status = 200): Promise<Shown> {
  const isFirst = visit.query.has('first');
  const branches = await branchesAround(visit.api, place);
  return {
    status,
    page: inWiki(visit, place, {
      title: 'Upload',
      tree: treeOf(place, branches),
      main: html`<article><h1>${isFirst ? 'Hand over a folder' : 'Upload files'}</h1>
        <p>${isFirst ? html`Your workspace <strong>${place.workspace.name}</strong> is there. ` : ''}Markdown, text, HTML, PDF, Word, EPUB and CSV become pages; folders and ZIP archives become the tree; links between files become links between pages. Handing over the same files again brings the pages up to date.</p>
        ${note}
        <ibid-upload data-wiki="${place.wiki.wiki_id}" data-to="${place.to('uploads')}" data-root="${place.at()}">
        <form method="post" action="${place.to('upload')}" enctype="multipart/form-data" class="drop">
          <p>${icon('upload')}<br>Drop files or folders here, or choose them.</p>
          <div class="row-of-buttons">
          <label class="button main pick">Choose a folder<input type="file" name="files" multiple webkitdirectory></label>
          <label class="button pick">Choose files<input type="file" name="files" multiple></label>
          </div>
          <noscript><p><button class="button main">Upload what is chosen</button></p></noscript>
        </form>
        </ibid-upload>
        ${isFirst && place.may('pages:write') && html`<p class="small">Or <a href="${place.to('new')}">write the first page yourself</a>.</p>`}
        <p class="small"><a href="${place.to('uploads')}">What became of earlier uploads</a></p></article>`,
    }),
  };
}

export const upload: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/upload',
  run: async (visit) => form(visit, await findPlace(visit)),
};

/** Without a script the form sends its files here, and they are handed on as they come. */
export const sendUpload: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/upload',
  run: async (visit) => {
    const place = await findPlace(visit);
    try {
      const made = await visit.api.stream<Upload>(`${place.api}/uploads`, visit.request.raw);
      return { redirect: place.to('uploads', made.upload_id) };
    } catch (error) {
      const problem = refusedFor(error);
      return form(visit, place, refusal(problem), problem.status);
    }
  },
};
