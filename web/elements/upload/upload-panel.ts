import { html, nothing, render } from 'lit';
import { ApiError, callApi, errorMessage } from '../call-api.ts';
import { type Chosen, type ChosenFile, isIgnored, type UploadOptions } from './chosen-files.ts';
import {
  announceUpload,
  type PendingFile,
  type PendingUpload,
  reattachFiles,
  removeStored,
  uploadUrl,
} from './pending-upload.ts';
import { sendFiles } from './send-files.ts';

/** Maximum number of listed files; the totals above the list count all of them. */
const LISTED = 200;

type State = 'announcing' | 'sending' | 'paused' | 'waiting' | 'stopped' | 'completing' | 'sent' | 'cancelled';

const STATE_TEXT: Record<State, string> = {
  announcing: 'Starting',
  sending: 'Sending',
  paused: 'Paused',
  waiting: 'Not finished',
  stopped: 'Stopped',
  completing: 'Finishing',
  sent: 'Uploaded',
  cancelled: 'Cancelled: nothing was uploaded',
};

export interface UploadPanel {
  /** Resumes the upload if all of these files belong to it; otherwise does nothing and returns false. */
  resume(chosen: readonly ChosenFile[]): boolean;
}

/** The panels that are sending. As long as one is sending, a finished upload does not navigate away. */
const sending = new Set<UploadPanel>();

addEventListener('beforeunload', (event) => {
  if (sending.size > 0) event.preventDefault();
});

/** Uploads chosen files. The page of an upload is `uploadsUrl` followed by its id. */
export function openNewUpload(
  container: HTMLElement,
  wiki_id: string,
  uploadsUrl: string,
  { files, left_out }: Chosen,
  options: UploadOptions,
): UploadPanel {
  const begin = () => announceUpload(wiki_id, files, options);
  if (files.length > 0) return openPanel(container, uploadsUrl, begin, undefined, left_out);
  render(
    html`<p class="handing" role="status">Nothing to upload. The folder is empty or contains only hidden files.</p>${leftOutView(left_out)}`,
    container,
  );
  return { resume: () => false };
}

/** Shows an unfinished upload, which resumes when its files are chosen again. */
export function openPendingUpload(container: HTMLElement, uploadsUrl: string, upload: PendingUpload): UploadPanel {
  return openPanel(container, uploadsUrl, async () => upload, upload);
}

function openPanel(
  container: HTMLElement,
  uploadsUrl: string,
  begin: () => Promise<PendingUpload>,
  known?: PendingUpload,
  left_out: readonly string[] = [],
): UploadPanel {
  let upload = known;
  let state: State = known ? 'waiting' : 'announcing';
  let pauseController = new AbortController();
  let problem: unknown;
  let isRenderScheduled = false;
  const panel: UploadPanel = { resume };

  function setState(next: State): void {
    state = next;
    if (next === 'sending') sending.add(panel);
    else sending.delete(panel);
    renderPanel();
  }

  async function start(): Promise<void> {
    problem = undefined;
    pauseController = new AbortController();
    const { signal } = pauseController;
    try {
      if (!upload) setState('announcing');
      upload ??= await begin();
      setState('sending');
      await sendFiles(upload, scheduleRender, signal);
      if (upload.files.some(({ sent, size }) => sent < size)) return setState('waiting');
      setState('completing');
      await callApi('POST', `${uploadUrl(upload)}/complete`);
      finish(upload);
    } catch (error) {
      if (signal.aborted) return;
      // The upload has already ended: in another tab, by a request whose reply was lost, or because it expired.
      if (upload && error instanceof ApiError && error.code === 'upload_state') return finish(upload);
      problem = error;
      setState('stopped');
    }
  }

  function finish(ended: PendingUpload): void {
    removeStored(ended);
    setState('sent');
    // Let the user read the list of omitted files first.
    if (sending.size === 0 && left_out.every(isIgnored)) location.href = `${uploadsUrl}/${ended.upload_id}`;
  }

  function pause(): void {
    pauseController.abort();
    setState('paused');
  }

  async function cancel(): Promise<void> {
    pauseController.abort();
    try {
      if (upload) {
        await callApi('POST', `${uploadUrl(upload)}/cancel`);
        removeStored(upload);
      }
      setState('cancelled');
    } catch (error) {
      if (upload && error instanceof ApiError && error.code === 'upload_state') return finish(upload);
      problem = error;
      setState('stopped');
    }
  }

  function resume(chosen: readonly ChosenFile[]): boolean {
    if (!upload || state === 'sending' || state === 'completing' || state === 'sent' || state === 'cancelled')
      return false;
    if (!reattachFiles(upload, chosen)) return false;
    void start();
    return true;
  }

  function scheduleRender(): void {
    if (isRenderScheduled) return;
    isRenderScheduled = true;
    requestAnimationFrame(renderPanel);
  }

  function renderPanel(): void {
    isRenderScheduled = false;
    const link = upload && `${uploadsUrl}/${upload.upload_id}`;
    render(panelView({ state, upload, problem, link, left_out }, { start, pause, cancel }), container);
  }

  if (known) renderPanel();
  else void start();
  return panel;
}

/** The state that a panel shows. `link`: the page of the upload. */
interface Shown {
  state: State;
  upload: PendingUpload | undefined;
  problem: unknown;
  link: string | undefined;
  /** Names of chosen files that are not sent. */
  left_out: readonly string[];
}

interface Actions {
  start: () => Promise<void>;
  pause: () => void;
  cancel: () => Promise<void>;
}

function panelView({ state, upload, problem, link, left_out }: Shown, actions: Actions) {
  const files = upload?.files ?? [];
  const total = sum(files, ({ size }) => size);
  const sent = sum(files, (file) => file.sent);
  const canChange = ['sending', 'paused', 'waiting', 'stopped'].includes(state);
  return html`<section class="handing" aria-label="Upload">
    <p class="handing-head"><strong role="status">${STATE_TEXT[state]}</strong>
      ${upload ? html`<span class="small">${formatCount(files.length)}, ${sent < total ? `${formatBytes(sent)} of ` : ''}${formatBytes(total)}</span>` : nothing}</p>
    ${upload && state !== 'cancelled' ? html`<progress max=${Math.max(total, 1)} .value=${total === 0 ? 1 : sent} aria-label="All files"></progress>` : nothing}
    ${problem === undefined ? nothing : html`<div class="note bad" role="alert"><p>${errorMessage(problem)}</p></div>`}
    ${state === 'waiting' ? html`<p>Choose the same files again to continue. Bytes that have arrived are not sent again.</p>` : nothing}
    ${leftOutView(left_out)}
    ${state === 'sent' && upload ? html`<p><a href="${link}">Status of the upload</a></p>` : nothing}
    ${canChange ? html`<p class="row-of-buttons">${mainButton(state, actions)}<button type="button" class="button quiet" @click=${actions.cancel}>${state === 'waiting' ? 'Discard' : 'Cancel'}</button></p>` : nothing}
    ${state === 'cancelled' ? nothing : html`<ul class="handing-list" tabindex="0" aria-label="Files">${files.slice(0, LISTED).map(fileRow)}</ul>`}
    ${files.length > LISTED ? html`<p class="small">and ${files.length - LISTED} more</p>` : nothing}
  </section>`;
}

/** Maximum number of omitted files to name; the rest is counted. */
const LEFT_OUT_NAMED = 5;

function leftOutView(names: readonly string[]) {
  if (names.length === 0) return nothing;
  const more = names.length > LEFT_OUT_NAMED ? ', …' : '';
  return html`<p class="small">${formatCount(names.length)} left out (hidden or system files): ${names.slice(0, LEFT_OUT_NAMED).join(', ')}${more}. To upload a hidden file, embed it or link to it in a text file of the folder.</p>`;
}

function mainButton(state: State, { start, pause }: Actions) {
  if (state === 'sending') return html`<button type="button" class="button" @click=${pause}>Pause</button>`;
  if (state === 'paused') return html`<button type="button" class="button main" @click=${start}>Continue</button>`;
  if (state === 'stopped') return html`<button type="button" class="button main" @click=${start}>Try again</button>`;
  return nothing;
}

function fileRow(file: PendingFile) {
  const { name, size, sent } = file;
  const isThere = sent >= size;
  const label = isThere
    ? 'sent'
    : sent > 0
      ? `${Math.floor((sent / size) * 100)} %`
      : file.file
        ? 'waiting'
        : 'missing';
  return html`<li><span>${name}</span><span class="said">${label}</span>${
    sent > 0 && !isThere ? html`<progress max=${size} .value=${sent} aria-label=${name}></progress>` : nothing
  }</li>`;
}

function sum(files: readonly PendingFile[], of: (file: PendingFile) => number): number {
  return files.reduce((all, file) => all + of(file), 0);
}

function formatCount(files: number): string {
  return `${files} ${files === 1 ? 'file' : 'files'}`;
}

function formatBytes(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
