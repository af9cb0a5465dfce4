import type { Job } from '../../src/platform/jobs/schema.ts';
import { problemForForm } from '../api.ts';
import { type Content, type Html, html } from '../html.ts';
import { problemNote, renderInWiki, time } from '../layout.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { Visit, WebResponse, WebRoute } from '../visit.ts';
import { loadWikiContext, type WikiContext } from '../wiki-context.ts';

async function renderTransfer(
  visit: Visit,
  context: WikiContext,
  note: Content = false,
  status = 200,
): Promise<WebResponse> {
  const id = visit.query.get('job');
  const [branches, job] = await Promise.all([
    loadBranches(visit.api, context),
    id === null ? undefined : visit.api.get<Job>(`${context.api}/jobs/${encodeURIComponent(id)}`),
  ]);
  return {
    status,
    page: renderInWiki(visit, context, {
      title: 'Export and import',
      tree: renderTree(context, branches),
      scripts: isRunning(job) ? ['job.js'] : [],
      head: isRunning(job) && html`<noscript><meta http-equiv="refresh" content="2"></noscript>`,
      main: html`<article class="settings"><h1>Export and import</h1>${note}${job && progress(context, job)}
        ${context.can('wikis:export') ? exportForm(context) : html`<p class="empty">Your role does not allow you to export this wiki. Ask an admin of the workspace.</p>`}
        ${context.can('pages:write') && importForm(context, branches.length === 0)}</article>`,
    }),
  };
}

function isRunning(job: Job | undefined): boolean {
  return job?.status === 'queued' || job?.status === 'running';
}

const NAMES: Record<string, string> = { export: 'The export', import: 'The import' };

function progress(context: WikiContext, job: Job): Html {
  const name = NAMES[job.kind] ?? 'The job';
  if (isRunning(job)) {
    return html`<ibid-job data-job="${context.api}/jobs/${job.job_id}"><p class="note"><label>${name} is running<progress max="100" value="${job.progress}">${job.progress} %</progress></label></p></ibid-job>`;
  }
  if (job.status !== 'completed') {
    return html`<div class="note bad" role="alert"><p>${name} failed. ${job.error || job.summary}</p><p>Nothing was changed. Try again below.</p><p class="small">Job <code>${job.job_id}</code></p></div>`;
  }
  return html`<div class="note good" role="status"><p>${name} is complete. ${job.summary}</p>
    ${
      job.kind === 'export'
        ? html`<p><a class="button main" href="${context.api}/exports/${job.job_id}/content" download>Download the archive</a></p><p class="small">It is available for seven days from ${time(job.finished_at ?? job.updated_at)}.</p>`
        : html`<p><a class="button main" href="${context.pageUrl()}">Read the wiki</a></p>`
    }</div>`;
}

function exportForm(context: WikiContext): Html {
  return html`<h2>Export</h2><p>A ZIP file with all pages as Markdown files, their attachments and their full history.</p>
    <form method="post" action="${context.actionUrl('export')}"><button class="button main">Export ${context.wiki.title}</button></form>`;
}

function importForm(context: WikiContext, isEmpty: boolean): Html {
  return html`<h2>Import</h2><p>Upload a ZIP file of Markdown, text or HTML files to add them as pages. Its folders become the tree.
    ${isEmpty ? 'An exported archive restores its pages, history and attachments.' : 'An exported archive needs an empty wiki; create one first.'} If an import fails, nothing is added.</p>
    <form method="post" action="${context.actionUrl('import')}" enctype="multipart/form-data" class="fields">
    <label class="grow">Archive <input type="file" name="file" accept=".zip,application/zip" required></label><button class="button">Import</button></form>`;
}

export const transfer: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/transfer',
  handle: async (visit) => renderTransfer(visit, await loadWikiContext(visit)),
};

/** Starts a job and redirects to its progress. */
async function startJob(visit: Visit, begin: (context: WikiContext) => Promise<Job>): Promise<WebResponse> {
  const context = await loadWikiContext(visit);
  try {
    const { job_id } = await begin(context);
    return { redirect: `${context.actionUrl('transfer')}?job=${job_id}` };
  } catch (error) {
    const problem = problemForForm(error);
    return renderTransfer(visit, context, problemNote(problem), problem.status);
  }
}

export const beginExport: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/export',
  handle: (visit) => startJob(visit, (context) => visit.api.post<Job>(`${context.api}/exports`)),
};

/** Streams the file to the API. */
export const beginImport: WebRoute = {
  method: 'POST',
  path: '/:workspace/:wiki/-/import',
  handle: (visit) => startJob(visit, (context) => visit.api.stream<Job>(`${context.api}/imports`, visit.request.raw)),
};
