import type { Job } from '../../src/jobs/schema.ts';
import type { Page } from '../../src/pages/schema.ts';
import type { Upload } from '../../src/uploads/schema.ts';
import { Problem } from '../api.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki, refusal, time } from '../layout.ts';
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
        <p>${isFirst ? html`Your workspace <strong>${place.workspace.name}</strong> is there. ` : ''}Markdown, text and HTML become pages; folders become the tree; links between files become links between pages. Handing over the same files again brings the pages up to date.</p>
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
      if (!(error instanceof Problem) || error.status === 401) throw error;
      return form(visit, place, refusal(error), error.status);
    }
  },
};

const WORDS: Record<string, string> = {
  ready: 'done',
  running: 'at work',
  failed: 'failed',
  unknown: 'waiting for a worker',
};

export const uploads: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/uploads',
  run: async (visit) => {
    const place = await findPlace(visit);
    const [branches, list] = await Promise.all([
      branchesAround(visit.api, place),
      visit.api.get<Upload[]>(`${place.api}/uploads?limit=500`),
    ]);
    return {
      page: inWiki(visit, place, {
        title: 'Uploads',
        tree: treeOf(place, branches),
        main: html`<article><h1>Uploads</h1>
          ${
            list.length === 0
              ? html`<p class="empty">Nothing was uploaded yet.${place.may('uploads:create') && html` <a href="${place.to('upload')}">Upload files</a>`}</p>`
              : html`<ul class="list">${list
                  .reverse()
                  .map(
                    (it) =>
                      html`<li><a href="${place.to('uploads', it.upload_id)}">${time(it.created_at)}</a> <span class="tag">${WORDS[it.status_label]}</span><p>${it.summary || it.error}</p></li>`,
                  )}</ul>`
          }</article>`,
      }),
    };
  },
};

export const oneUpload: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/uploads/:upload_id',
  run: async (visit) => {
    const place = await findPlace(visit);
    const id = encodeURIComponent(visit.params.upload_id ?? '');
    const it = await visit.api.get<Upload>(`${place.api}/uploads/${id}`);
    const [branches, jobs, sources] = await Promise.all([
      branchesAround(visit.api, place),
      visit.api.get<Job[]>(`${place.api}/jobs?upload_id=${id}`),
      it.finished_at ? visit.api.get<Page[]>(`${place.api}/pages?limit=1`) : [],
    ]);
    const isDone = it.finished_at !== undefined;
    return {
      page: inWiki(visit, place, {
        title: 'Upload',
        tree: treeOf(place, branches),
        // With a script the element below looks by itself.
        head: !isDone && html`<noscript><meta http-equiv="refresh" content="2"></noscript>`,
        main: html`<article><p class="small"><a href="${place.to('uploads')}">Uploads</a></p><h1>${isDone ? (it.status === 'completed' ? 'Done' : 'That did not work') : 'At work'}</h1>
          <ibid-job data-api="${place.api}/uploads/${it.upload_id}"${!isDone && html` data-running`}>
          ${jobs.map((job) => html`<p><label>${job.kind === 'ingest' ? 'Reading the files' : job.kind}<progress max="100" value="${job.progress}">${job.progress} %</progress></label></p>`)}
          </ibid-job>
          <p>${it.summary}</p>
          ${it.error !== '' && html`<p class="note bad">${it.error}</p>`}
          <p class="small">Handed over ${time(it.created_at)}.</p>
          ${isDone && html`<p class="row-of-buttons">${sources.length > 0 && html`<a class="button main" href="${place.at()}">Read the wiki</a>`}<a class="button" href="${place.to('upload')}">Upload more</a></p>`}
        </article>`,
      }),
    };
  },
};
