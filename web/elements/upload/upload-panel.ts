import { html, nothing, render } from 'lit';
import { ApiError, callApi, errorMessage } from '../call-api.ts';
import type { ChosenFile } from './chosen-files.ts';
import {
  announceUpload,
  type PendingFile,
  type PendingUpload,
  reattachFiles,
  removeStored,
  uploadUrl,
} from './pending-upload.ts';
import { sendFiles } from './send-files.ts';

/** More files in one list than anybody reads; the numbers above it count them all. */
const LISTED = 200;

type State = 'announcing' | 'sending' | 'paused' | 'waiting' | 'stopped' | 'completing' | 'sent' | 'cancelled';

const STATE_TEXT: Record<State, string> = {
  announcing: 'Beginning',
  sending: 'Sending',
  paused: 'Paused',
  waiting: 'Not finished',
  stopped: 'Stopped',
  completing: 'All is there',
  sent: 'All is there',
  cancelled: 'Cancelled: nothing was handed over',
};

/** An upload on the page, and what one can do about it. */
export interface UploadPanel {
  /** Goes on with these files, where all of them are the upload's; else false, and nothing. */
  resume(chosen: readonly ChosenFile[]): boolean;
}

/** The panels that send now: whoever finishes does not lead away from another's bytes. */
const sending = new Set<UploadPanel>();

addEventListener('beforeunload', (event) => {
  if (sending.size > 0) event.preventDefault();
});

/** Hands over files that were chosen. `uploadsUrl`: the address below which one reads what becomes of an upload. */
export function openNewUpload(
  container: HTMLElement,
  wiki_id: string,
  uploadsUrl: string,
  chosen: readonly ChosenFile[],
): UploadPanel {
  if (chosen.length > 0) return openPanel(container, uploadsUrl, () => announceUpload(wiki_id, chosen));
  render(
    html`<p class="handing" role="status">There is nothing to hand over: the folder is empty, or holds only files that hide.</p>`,
    container,
  );
  return { resume: () => false };
}

/** Shows an upload that was begun before, until its files are chosen again. */
export function openPendingUpload(container: HTMLElement, uploadsUrl: string, upload: PendingUpload): UploadPanel {
  return openPanel(container, uploadsUrl, async () => upload, upload);
}

function openPanel(
  container: HTMLElement,
  uploadsUrl: string,
  begin: () => Promise<PendingUpload>,
  known?: PendingUpload,
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
      // It ended meanwhile: by another tab, by an answer that was lost, or because nobody sent for a day.
      if (upload && error instanceof ApiError && error.code === 'upload_state') return finish(upload);
      problem = error;
      setState('stopped');
    }
  }

  function finish(ended: PendingUpload): void {
    removeStored(ended);
    setState('sent');
    if (sending.size === 0) location.href = `${uploadsUrl}/${ended.upload_id}`;
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
    const files = upload?.files ?? [];
    const total = sum(files, ({ size }) => size);
    const sent = sum(files, (file) => file.sent);
    const canChange = ['sending', 'paused', 'waiting', 'stopped'].includes(state);
    render(
      html`<section class="handing" aria-label="Upload">
        <p class="handing-head"><strong role="status">${STATE_TEXT[state]}</strong>
          ${upload ? html`<span class="small">${formatCount(files.length)}, ${sent < total ? `${formatBytes(sent)} of ` : ''}${formatBytes(total)}</span>` : nothing}</p>
        ${upload && state !== 'cancelled' ? html`<progress max=${Math.max(total, 1)} .value=${total === 0 ? 1 : sent} aria-label="All files"></progress>` : nothing}
        ${problem === undefined ? nothing : html`<div class="note bad" role="alert"><p>${errorMessage(problem)}</p></div>`}
        ${state === 'waiting' ? html`<p>Choose the same files again, and it goes on where it stopped: what is there is not sent again.</p>` : nothing}
        ${state === 'sent' && upload ? html`<p><a href="${uploadsUrl}/${upload.upload_id}">What becomes of it</a></p>` : nothing}
        ${canChange ? html`<p class="row-of-buttons">${mainButton()}<button type="button" class="button quiet" @click=${cancel}>${state === 'waiting' ? 'Discard' : 'Cancel'}</button></p>` : nothing}
        ${state === 'cancelled' ? nothing : html`<ul class="handing-list" tabindex="0" aria-label="Files">${files.slice(0, LISTED).map(fileRow)}</ul>`}
        ${files.length > LISTED ? html`<p class="small">and ${files.length - LISTED} more</p>` : nothing}
      </section>`,
      container,
    );
  }

  function mainButton() {
    if (state === 'sending') return html`<button type="button" class="button" @click=${pause}>Pause</button>`;
    if (state === 'paused') return html`<button type="button" class="button main" @click=${start}>Go on</button>`;
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
          ? 'waits'
          : 'missing';
    return html`<li><span>${name}</span><span class="said">${label}</span><progress max=${Math.max(size, 1)} .value=${isThere ? Math.max(size, 1) : sent} aria-label=${name}></progress></li>`;
  }

  if (known) renderPanel();
  else void start();
  return panel;
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
