import type { Job } from '../../src/jobs/schema.ts';
import { refusedFor } from '../api.ts';
import { type Content, type Html, html } from '../html.ts';
import { inWiki, refusal, time } from '../layout.ts';
import { findPlace, type Place } from '../place.ts';
import { branchesAround, treeOf } from '../tree.ts';
import type { Shown, Visit, WebRoute } from '../visit.ts';

async function shown(visit: Visit, place: Place, note: Content = false, status = 200): Promise<Shown> {
  const id = visit.query.get('job');
  const [branches, job] = await Promise.all([
    branchesAround(visit.api, place),
    id === null ? undefined : visit.api.get<Job>(`${place.api}/jobs/${encodeURIComponent(id)}`),
  ]);
  return {
    status,
    page: inWiki(visit, place, {
      title: 'Export and import',
      tree: treeOf(place, branches),
      scripts: isAtWork(job) ? ['job.js'] : [],
      head: isAtWork(job) && html`<noscript><meta http-equiv="refresh" content="2"></noscript>`,
      main: html`<article class="settings"><h1>Export and import</h1>${note}${job && progress(place, job)}
        ${place.may('wikis:export') ? exportForm(place) : html`<p class="empty">Your role may not export this wiki. Ask an admin of the workspace.</p>`}
        ${place.may('pages:write') && importForm(place, branches.length === 0)}</article>`,
    }),
  };
}

function isAtWork(job: Job | undefined): boolean {
  return job?.status === 'queued' || job?.status === 'running';
}

const NAMES: Record<string, string> = { export: 'The export', import: 'The import' };

function progress(place: Place, job: Job): Html {
  const name = NAMES[job.kind] ?? 'The job';
  if (isAtWork(job)) {
    return html`<ibid-job data-job="${place.api}/jobs/${job.job_id}"><p class="note"><label>${name} is at work<progress max="100" value="${job.progress}">${job.progress} %</progress></label></p></ibid-job>`;
  }
  if (job.status !== 'completed') {
    return html`<div class="note bad" role="alert"><p>${name} has ended without success. ${job.error || job.summary}</p><p>Begin it anew below; nothing was changed.</p><p class="small">Job <code>${job.job_id}</code></p></div>`;
  }
  return html`<div class="note good" role="status"><p>${name} is done. ${job.summary}</p>
    ${
      job.kind === 'export'
        ? html`<p><a class="button main" href="${place.api}/exports/${job.job_id}/content" download>Download the archive</a></p><p class="small">It is kept for seven days from ${time(job.finished_at ?? job.updated_at)}.</p>`
        : html`<p><a class="button main" href="${place.at()}">Read the wiki</a></p>`
    }</div>`;
}

function exportForm(place: Place): Html {
  return html`<h2>Export</h2><p>One ZIP with all pages as Markdown files, their attachments, and their whole history.</p>
    <form method="post" action="${place.to('export')}"><button class="button main">Export ${place.wiki.title}</button></form>`;
}

function importForm(place: Place, isEmpty: boolean): Html {
  return html`<h2>Import</h2><p>A ZIP of Markdown, text or HTML files adds their pages here; its folders become the tree.
    ${isEmpty ? 'An archive that was exported brings its pages, history and attachments back.' : 'An archive that was exported needs an empty wiki: make one for it.'} It comes in as a whole, or not at all.</p>
    <form method="post" action="${place.to('import')}" enctype="multipart/form-data" class="fields">
    <label class="grow">Archive <input type="file" name="file" accept=".zip,application/zip" required></label><button class="button">Import</button></form>`;
}

export const transfer: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/transfer',
  run: async (visit) => shown(visit, await findPlace(visit)),
};

/** Begins a job, which the page then follows. */
async function begun(visit: Visit, begin: (place: Place) => Promise<Job>): Promise<Shown> {
  const place = await findPlace(visit);
  try {
    const { job_id } = await begin(place);
    return { redirect: `${place.to('transfer')}?job=${job_id}` };
  } catch (error) {
    const problem = refusedFor(error);
    return shown(visit, place, refusal(problem), problem.status);
  }
}

export const beginExport: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/export',
  run: (visit) => begun(visit, (place) => visit.api.post<Job>(`${place.api}/exports`)),
};

/** The file is handed on as it comes. */
export const beginImport: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/import',
  run: (visit) => begun(visit, (place) => visit.api.stream<Job>(`${place.api}/imports`, visit.request.raw)),
};
