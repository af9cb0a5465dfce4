import type { Job } from '../../src/jobs/schema.ts';
import type { Upload } from '../../src/uploads/schema.ts';
import { refusedFor } from '../api.ts';
import { type Content, html } from '../html.ts';
import { inWiki, refusal, time } from '../layout.ts';
import { type ListPart, partLinks, readPart } from '../paging.ts';
import { findPlace, type Place } from '../place.ts';
import { branchesAround, treeOf } from '../tree.ts';
import type { Shown, Visit, WebRoute } from '../visit.ts';
import { size } from './sources.ts';

/** Uploads, or files of one, that are shown at once. */
const SHOWN = 100;

const WORDS: Record<Upload['status_label'], string> = {
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
    const [branches, part] = await Promise.all([
      branchesAround(visit.api, place),
      readPart<Upload>(visit, `${place.api}/uploads?order=newest&limit=${SHOWN}`),
    ]);
    return {
      page: inWiki(visit, place, {
        title: 'Uploads',
        tree: treeOf(place, branches),
        main: html`<article><h1>Uploads</h1>
          ${
            part.records.length === 0
              ? html`<p class="empty">${part.isFirst ? 'Nothing was uploaded yet.' : 'Nothing was uploaded before that.'}${place.may('uploads:create') && html` <a href="${place.to('upload')}">Upload files</a>`}</p>`
              : html`<ul class="list">${part.records.map(
                  (it) =>
                    html`<li><a href="${place.to('uploads', it.upload_id)}">${time(it.created_at)}</a> <span class="tag">${it.status === 'uploading' ? 'not finished' : WORDS[it.status_label]}</span><p>${it.summary || said(it.error)}</p></li>`,
                )}</ul>`
          }
          ${partLinks(part, { first: 'The newest', next: 'Older' })}</article>`,
      }),
    };
  },
};

interface FileOfUpload {
  filename: string;
  byte_size: number;
  received: number;
  status: 'pending' | 'done' | 'failed';
  error: string;
  source_id: string;
  page_path: string;
  page_change: '' | 'new' | 'updated' | 'same' | 'kept';
}

export const oneUpload: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/uploads/:upload_id',
  run: async (visit) => showUpload(visit, await findPlace(visit)),
};

async function showUpload(visit: Visit, place: Place, note: Content = false, status = 200): Promise<Shown> {
  const id = encodeURIComponent(visit.params.upload_id ?? '');
  const api = `${place.api}/uploads/${id}`;
  const address = place.to('uploads', visit.params.upload_id ?? '');
  const [it, branches, jobs, failed, files] = await Promise.all([
    visit.api.get<Upload>(api),
    branchesAround(visit.api, place),
    visit.api.get<Job[]>(`${place.api}/jobs?upload_id=${id}&limit=500`),
    readPart<FileOfUpload>(visit, `${api}/files?status=failed&limit=${SHOWN}`, { name: 'failed', address }),
    readPart<FileOfUpload>(visit, `${api}/files?limit=${SHOWN}`, { name: 'files', address }),
  ]);
  const job = jobs.at(-1);
  const isAtWork = it.status === 'queued' && job !== undefined;
  return {
    status,
    page: inWiki(visit, place, {
      title: 'Upload',
      tree: treeOf(place, branches),
      scripts: isAtWork ? ['job.js'] : [],
      // With a script the element below follows by itself.
      head: isAtWork && html`<noscript><meta http-equiv="refresh" content="2"></noscript>`,
      main: html`<article><p class="small"><a href="${place.to('uploads')}">Uploads</a></p><h1>${HEADINGS[it.status]}</h1>
        ${note}
        ${isAtWork && stepsOf(place, job)}
        ${it.status === 'uploading' && html`<p>Not all bytes are there yet. In the browser that sends them, <a href="${place.to('upload')}">choose the same files again</a> to go on.</p>`}
        ${it.summary !== '' && html`<p>${it.summary}</p>`}
        ${it.error !== '' && html`<p class="note bad">${said(it.error)}</p>`}
        <p class="small">Handed over ${time(it.created_at)}.</p>
        ${actions(place, it, jobs.length > 0)}
        ${areSome(failed, files) && html`<h2>Could not be used</h2>${listOf(place, failed.records)}${partLinks(failed)}`}
        <h2>Files</h2>${listOf(place, files.records)}${partLinks(files)}
      </article>`,
    }),
  };
}

/** Whether the failed files are some of all: the list of them stands beside the beginning of that of all, and goes on by itself. */
function areSome(failed: ListPart<FileOfUpload>, all: ListPart<FileOfUpload>): boolean {
  const isPartOfAll = failed.records.length > 0 && (all.next !== '' || failed.records.length < all.records.length);
  return !failed.isFirst || (all.isFirst && isPartOfAll);
}

const HEADINGS: Record<Upload['status'], string> = {
  uploading: 'Not finished',
  queued: 'At work',
  completed: 'Done',
  failed: 'That did not work',
};

function stepsOf(place: Place, { job_id, status, progress }: Job): Content {
  const at = (step: string) => step === status && html` aria-current="step"`;
  return html`<ibid-job data-job="${place.api}/jobs/${job_id}">
    <ol class="steps"><li>All bytes are there</li><li data-step="queued"${at('queued')}>Waiting for a worker</li>
    <li data-step="running"${at('running')}>Making pages of the files: <span class="job-said">${progress} %</span>
    <progress max="100" value="${progress}" aria-label="Making pages of the files"></progress></li></ol></ibid-job>`;
}

function actions(place: Place, it: Upload, wasComplete: boolean): Content {
  const may = place.may('uploads:create');
  const send = (action: string, words: string, kind = '') =>
    html`<form method="post" action="${place.to('uploads', it.upload_id)}/${action}"><button class="button ${kind}">${words}</button></form>`;
  return html`<div class="row-of-buttons">
    ${it.status === 'completed' && html`<a class="button main" href="${place.at()}">Read the wiki</a>`}
    ${may && it.status === 'failed' && wasComplete && send('retry', 'Try again', 'main')}
    ${may && it.finished_at === undefined && send('cancel', 'Cancel', 'quiet')}
    ${may && it.finished_at !== undefined && html`<a class="button" href="${place.to('upload')}">Upload more</a>`}</div>`;
}

function listOf(place: Place, files: readonly FileOfUpload[]): Content {
  return html`<ul class="list">${files.map((file) => html`<li>${nameOf(place, file)} <span class="small">${size(file.byte_size)}</span><p>${becameOf(place, file)}</p></li>`)}</ul>`;
}

function nameOf(place: Place, { filename, source_id }: FileOfUpload): Content {
  return source_id === '' ? filename : html`<a href="${place.to('sources', source_id)}">${filename}</a>`;
}

const CHANGES: Record<FileOfUpload['page_change'], string> = {
  '': 'Read',
  new: 'A new page',
  updated: 'Its page is up to date',
  same: 'Its page was up to date',
  kept: 'Its page was left as people edited it',
};

function becameOf(place: Place, file: FileOfUpload): Content {
  if (file.status === 'failed') return said(file.error);
  if (file.status === 'done') {
    const words = CHANGES[file.page_change];
    return file.page_change === '' || file.page_path === ''
      ? words
      : html`<a href="${place.at(file.page_path)}">${words}</a>`;
  }
  if (file.received === file.byte_size) return 'Not worked on yet';
  return `${size(file.received)} of it are there`;
}

/** An error as people read it: without the code in front. */
function said(error: string): string {
  const words = error.replace(/^\w+: /, '');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const retryUpload = change('retry');
export const cancelUpload = change('cancel');

function change(action: 'retry' | 'cancel'): WebRoute {
  return {
    method: 'POST',
    path: `/:workspace/:wiki/-/uploads/:upload_id/${action}`,
    run: async (visit) => {
      const place = await findPlace(visit);
      const id = visit.params.upload_id ?? '';
      try {
        await visit.api.post(`${place.api}/uploads/${encodeURIComponent(id)}/${action}`);
        return { redirect: place.to('uploads', id) };
      } catch (error) {
        const problem = refusedFor(error);
        if (problem.status === 404) throw problem;
        return showUpload(visit, place, refusal(problem), problem.status);
      }
    },
  };
}
