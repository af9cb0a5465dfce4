import type { Job } from '../../src/platform/jobs/schema.ts';
import type { FileOfUpload, Upload } from '../../src/sources/uploads/schema.ts';
import type { GonePage } from '../../src/wiki/pages/gone/schema.ts';
import { problemForForm } from '../api.ts';
import { type Content, html } from '../html.ts';
import { problemNote, renderInWiki, time } from '../layout.ts';
import { type ListPart, partLinks, readPart } from '../paging.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { Visit, WebResponse, WebRoute } from '../visit.ts';
import { loadWikiContext, type WikiContext } from '../wiki-context.ts';
import { formatBytes } from './sources.ts';

const PAGE_SIZE = 100;
/** Files of an upload per page: the maximum of the API, because the files are sorted here. */
const FILES_SIZE = 500;

const STATUS_WORDS: Record<Upload['status_label'], string> = {
  ready: 'done',
  running: 'running',
  failed: 'failed',
  unknown: 'queued',
};

export const uploads: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/uploads',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const [branches, part] = await Promise.all([
      loadBranches(visit.api, context),
      readPart<Upload>(visit, `${context.api}/uploads?order=newest&limit=${PAGE_SIZE}`),
    ]);
    return {
      page: renderInWiki(visit, context, {
        title: 'Uploads',
        tree: renderTree(context, branches),
        main: html`<article><h1>Uploads</h1>
          ${
            part.records.length === 0
              ? html`<p class="empty">${part.isFirst ? 'No files uploaded yet.' : 'No earlier uploads.'}${context.can('uploads:create') && html` <a href="${context.actionUrl('upload')}">Upload files</a>`}</p>`
              : html`<ul class="list">${part.records.map(
                  (it) =>
                    html`<li><a href="${context.actionUrl('uploads', it.upload_id)}">${time(it.created_at)}</a> <span class="tag">${statusWords(it)}</span><p>${readSummary(it.summary).counts || errorText(it.error)}</p></li>`,
                )}</ul>`
          }
          ${partLinks(part, { first: 'Newest', next: 'Older' })}</article>`,
      }),
    };
  },
};

function statusWords(it: Upload): string {
  if (it.status === 'uploading') return 'incomplete';
  const { failed } = readSummary(it.summary);
  return it.status === 'completed' && failed !== '' ? `${failed} failed` : STATUS_WORDS[it.status_label];
}

export const oneUpload: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/uploads/:upload_id',
  handle: async (visit) => renderUpload(visit, await loadWikiContext(visit)),
};

async function renderUpload(
  visit: Visit,
  context: WikiContext,
  note: Content = false,
  status = 200,
): Promise<WebResponse> {
  const id = encodeURIComponent(visit.params.upload_id ?? '');
  const api = `${context.api}/uploads/${id}`;
  const address = context.actionUrl('uploads', visit.params.upload_id ?? '');
  const [it, branches, jobs, failed, files, waiting] = await Promise.all([
    visit.api.get<Upload>(api),
    loadBranches(visit.api, context),
    visit.api.get<Job[]>(`${context.api}/jobs?upload_id=${id}&limit=500`),
    readPart<FileOfUpload>(visit, `${api}/files?status=failed&limit=${FILES_SIZE}`, { name: 'failed', address }),
    readPart<FileOfUpload>(visit, `${api}/files?limit=${FILES_SIZE}`, { name: 'files', address }),
    context.can('pages:write') ? visit.api.get<GonePage[]>(`${context.api}/pages/gone?limit=1`) : [],
  ]);
  const job = jobs.at(-1);
  const isApart = areSome(failed, files);
  const isRunning = it.status === 'queued' && job !== undefined;
  return {
    status,
    page: renderInWiki(visit, context, {
      title: 'Upload',
      tree: renderTree(context, branches),
      scripts: isRunning ? ['job.js'] : [],
      // With scripts, ibid-job below reloads the page when the job ends.
      head: isRunning && html`<noscript><meta http-equiv="refresh" content="2"></noscript>`,
      main: html`<article><p class="small"><a href="${context.actionUrl('uploads')}">Uploads</a></p><h1>${headingOf(it)}</h1>
        ${note}
        ${isRunning && jobSteps(context, job)}
        ${it.status === 'uploading' && html`<p>To continue, <a href="${context.actionUrl('upload')}">choose the same files again</a> in the browser that was sending them.</p>`}
        ${outcome(context, it.summary)}
        ${it.status === 'completed' && waiting.length > 0 && html`<p class="note">The files of some pages are missing from their folder. <a href="${context.actionUrl('gone')}">Keep or delete these pages</a></p>`}
        ${it.error !== '' && html`<p class="note bad">${errorText(it.error)}</p>`}
        <p class="small">Uploaded ${time(it.created_at)}.</p>
        ${actions(context, it, jobs.length > 0)}
        ${isApart && html`<h2>Not used</h2>${fileList(context, failed.records)}${partLinks(failed)}`}
        <h2>${isApart ? 'Other files' : 'Files'}</h2>${fileList(context, isApart ? files.records.filter((file) => file.status !== 'failed') : files.records)}${partLinks(files)}
      </article>`,
    }),
  };
}

/**
 * Returns whether failed files get their own list. The first part of all files has it if only some files failed;
 * further parts of the failed files are always a separate list.
 */
function areSome(failed: ListPart<FileOfUpload>, all: ListPart<FileOfUpload>): boolean {
  const isPartOfAll = failed.records.length > 0 && (all.next !== '' || failed.records.length < all.records.length);
  return !failed.isFirst || (all.isFirst && isPartOfAll);
}

/** Separates the counts of a summary from the lists of names after them. */
const NAMED =
  /\. (?=(?:Failed|Not read completely|Left out|Order files ignored|Gone; keep or delete|Broken links): |People and)/;

/**
 * Parses a summary, which is one line for programs. `failed`: the number of failed files as text, "" if none failed.
 */
function readSummary(summary: string): { counts: string; named: string[]; failed: string } {
  const [counts = '', ...named] = summary.replace(/\.$/, '').split(NAMED);
  const [, failed = ''] = /, (\d+ files?) failed$/.exec(counts) ?? [];
  return { counts, named, failed };
}

/**
 * Renders the summary as lists. Failed and omitted files have their own list on this page, with the remedy for each.
 */
function outcome(context: WikiContext, summary: string): Content {
  if (summary === '') return false;
  const { counts, named } = readSummary(summary);
  const [, files = counts, parts = ''] = /^(\d+ files?): (.*)$/s.exec(counts) ?? [];
  const list = (items: readonly string[]) => html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
  const others = named.filter((sentence) => !/^(?:Failed|Left out): /.test(sentence));
  return html`<div class="outcome"><p>${files}${parts !== '' && ':'}</p>${parts !== '' && list(parts.split(/, (?![^(]*\))/))}
    ${others.map((sentence) => {
      const [, what = '', items = ''] = /^([^:]*): (.*)$/s.exec(sentence) ?? [];
      const isLinks = what === 'Broken links' && context.can('pages:write');
      return html`<p><strong>${isLinks ? html`<a href="${context.actionUrl('broken-links')}">${what}</a>` : what}</strong></p>${list(items.split('; '))}`;
    })}</div>`;
}

function headingOf({ status, summary }: Upload): string {
  const { failed } = readSummary(summary);
  return status === 'completed' && failed !== '' ? `Done, but ${failed} failed` : HEADINGS[status];
}

const HEADINGS: Record<Upload['status'], string> = {
  uploading: 'Upload incomplete',
  queued: 'Processing',
  completed: 'Done',
  failed: 'Upload failed',
};

function jobSteps(context: WikiContext, { job_id, status, progress }: Job): Content {
  const at = (step: string) => step === status && html` aria-current="step"`;
  return html`<ibid-job data-job="${context.api}/jobs/${job_id}">
    <ol class="steps"><li>Files received</li><li data-step="queued"${at('queued')}>Queued</li>
    <li data-step="running"${at('running')}>Creating pages: <span class="job-said">${progress} %</span>
    <progress max="100" value="${progress}" aria-label="Creating pages"></progress></li></ol></ibid-job>`;
}

function actions(context: WikiContext, it: Upload, wasComplete: boolean): Content {
  const canUpload = context.can('uploads:create');
  const actionForm = (action: string, words: string, kind = '') =>
    html`<form method="post" action="${context.actionUrl('uploads', it.upload_id)}/${action}"><button class="button ${kind}">${words}</button></form>`;
  return html`<div class="row-of-buttons">
    ${it.status === 'completed' && html`<a class="button main" href="${context.pageUrl()}">Read the wiki</a>`}
    ${canUpload && it.status === 'failed' && wasComplete && actionForm('retry', 'Try again', 'main')}
    ${canUpload && it.finished_at === undefined && actionForm('cancel', 'Cancel', 'quiet')}
    ${canUpload && it.finished_at !== undefined && html`<a class="button" href="${context.actionUrl('upload')}">Upload more</a>`}</div>`;
}

const { compare: compareNames } = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/**
 * Ranks a file by the attention it needs: failed files, unfinished files, then pages that both users and the file
 * changed.
 */
function needOf({ status, page_change }: FileOfUpload): number {
  if (status !== 'done') return status === 'failed' ? 0 : 1;
  return page_change === 'kept' || page_change === 'merged' ? 2 : 3;
}

/** Sorts files that need attention first, then by path with numeric order. */
function byNeed(one: FileOfUpload, other: FileOfUpload): number {
  return needOf(one) - needOf(other) || compareNames(one.filename, other.filename);
}

function fileList(context: WikiContext, files: readonly FileOfUpload[]): Content {
  return html`<ul class="list files">${files.toSorted(byNeed).map((file) => html`<li class="${file.status}">${fileName(context, file)} <span class="small">${formatBytes(file.byte_size)}</span><p>${fileOutcome(context, file)}</p></li>`)}</ul>`;
}

function fileName(context: WikiContext, { filename, source_id }: FileOfUpload): Content {
  return source_id === '' ? filename : html`<a href="${context.actionUrl('sources', source_id)}">${filename}</a>`;
}

const CHANGE_WORDS: Record<FileOfUpload['page_change'], string> = {
  '': 'Attached',
  new: 'Page created',
  updated: 'Page updated',
  merged: 'Page updated; edits by people were kept',
  same: 'No change',
  kept: 'Page not updated; it conflicts with edits by people',
};

function fileOutcome(context: WikiContext, file: FileOfUpload): Content {
  if (file.status === 'failed') return errorText(file.error);
  if (file.status === 'done') {
    const words = CHANGE_WORDS[file.page_change];
    return file.page_change === '' || file.page_path === ''
      ? words
      : html`<a href="${context.pageUrl(file.page_path)}">${words}</a>`;
  }
  if (file.received === file.byte_size) return 'Not processed yet';
  return `${formatBytes(file.received)} received`;
}

/** Returns the message of an error without its code. */
function errorText(error: string): string {
  const words = error.replace(/^\w+: /, '');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const retryUpload = uploadAction('retry');
export const cancelUpload = uploadAction('cancel');

function uploadAction(action: 'retry' | 'cancel'): WebRoute {
  return {
    method: 'POST',
    path: `/:workspace/:wiki/-/uploads/:upload_id/${action}`,
    handle: async (visit) => {
      const context = await loadWikiContext(visit);
      const id = visit.params.upload_id ?? '';
      try {
        await visit.api.post(`${context.api}/uploads/${encodeURIComponent(id)}/${action}`);
        return { redirect: context.actionUrl('uploads', id) };
      } catch (error) {
        const problem = problemForForm(error);
        if (problem.status === 404) throw problem;
        return renderUpload(visit, context, problemNote(problem), problem.status);
      }
    },
  };
}
