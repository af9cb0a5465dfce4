import { html, nothing, render } from 'lit';
import { ask, Refused, wordsOf } from '../ask.ts';
import type { ChosenFile } from './chosen-files.ts';
import { addressOf, announce, forget, type Outgoing, type OutgoingFile, takeUp } from './outgoing.ts';
import { sendFiles } from './send-files.ts';

/** More files in one list than anybody reads; the numbers above it count them all. */
const LISTED = 200;

type State = 'announcing' | 'sending' | 'paused' | 'waiting' | 'stopped' | 'completing' | 'sent' | 'cancelled';

const SAID: Record<State, string> = {
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
  take(chosen: readonly ChosenFile[]): boolean;
}

/** The panels that send now: whoever finishes does not lead away from another's bytes. */
const sending = new Set<UploadPanel>();

addEventListener('beforeunload', (event) => {
  if (sending.size > 0) event.preventDefault();
});

/** Hands over files that were chosen. `resultAt`: the address below which one reads what becomes of an upload. */
export function openNewUpload(
  place: HTMLElement,
  wiki_id: string,
  resultAt: string,
  chosen: readonly ChosenFile[],
): UploadPanel {
  if (chosen.length > 0) return openPanel(place, resultAt, () => announce(wiki_id, chosen));
  render(
    html`<p class="handing" role="status">There is nothing to hand over: the folder is empty, or holds only files that hide.</p>`,
    place,
  );
  return { take: () => false };
}

/** Shows an upload that was begun before, until its files are chosen again. */
export function openOldUpload(place: HTMLElement, resultAt: string, outgoing: Outgoing): UploadPanel {
  return openPanel(place, resultAt, async () => outgoing, outgoing);
}

function openPanel(
  place: HTMLElement,
  resultAt: string,
  begin: () => Promise<Outgoing>,
  known?: Outgoing,
): UploadPanel {
  let outgoing = known;
  let state: State = known ? 'waiting' : 'announcing';
  let pausing = new AbortController();
  let problem: unknown;
  let isShowing = false;
  const panel: UploadPanel = { take };

  function enter(next: State): void {
    state = next;
    if (next === 'sending') sending.add(panel);
    else sending.delete(panel);
    show();
  }

  async function go(): Promise<void> {
    problem = undefined;
    pausing = new AbortController();
    const { signal } = pausing;
    try {
      if (!outgoing) enter('announcing');
      outgoing ??= await begin();
      enter('sending');
      await sendFiles(outgoing, showSoon, signal);
      if (outgoing.files.some(({ sent, size }) => sent < size)) return enter('waiting');
      enter('completing');
      await ask('POST', `${addressOf(outgoing)}/complete`);
      end(outgoing);
    } catch (error) {
      if (signal.aborted) return;
      // It ended meanwhile: by another tab, by an answer that was lost, or because nobody sent for a day.
      if (outgoing && error instanceof Refused && error.code === 'upload_state') return end(outgoing);
      problem = error;
      enter('stopped');
    }
  }

  function end(ended: Outgoing): void {
    forget(ended);
    enter('sent');
    if (sending.size === 0) location.href = `${resultAt}/${ended.upload_id}`;
  }

  function pause(): void {
    pausing.abort();
    enter('paused');
  }

  async function cancel(): Promise<void> {
    pausing.abort();
    try {
      if (outgoing) {
        await ask('POST', `${addressOf(outgoing)}/cancel`);
        forget(outgoing);
      }
      enter('cancelled');
    } catch (error) {
      if (outgoing && error instanceof Refused && error.code === 'upload_state') return end(outgoing);
      problem = error;
      enter('stopped');
    }
  }

  function take(chosen: readonly ChosenFile[]): boolean {
    if (!outgoing || state === 'sending' || state === 'completing' || state === 'sent' || state === 'cancelled')
      return false;
    if (!takeUp(outgoing, chosen)) return false;
    void go();
    return true;
  }

  function showSoon(): void {
    if (isShowing) return;
    isShowing = true;
    requestAnimationFrame(show);
  }

  function show(): void {
    isShowing = false;
    const files = outgoing?.files ?? [];
    const total = sum(files, ({ size }) => size);
    const sent = sum(files, (file) => file.sent);
    const canChange = ['sending', 'paused', 'waiting', 'stopped'].includes(state);
    render(
      html`<section class="handing" aria-label="Upload">
        <p class="handing-head"><strong role="status">${SAID[state]}</strong>
          ${outgoing ? html`<span class="small">${count(files.length)}, ${sent < total ? `${megabytes(sent)} of ` : ''}${megabytes(total)}</span>` : nothing}</p>
        ${outgoing && state !== 'cancelled' ? html`<progress max=${Math.max(total, 1)} .value=${total === 0 ? 1 : sent} aria-label="All files"></progress>` : nothing}
        ${problem === undefined ? nothing : html`<div class="note bad" role="alert"><p>${wordsOf(problem)}</p></div>`}
        ${state === 'waiting' ? html`<p>Choose the same files again, and it goes on where it stopped: what is there is not sent again.</p>` : nothing}
        ${state === 'sent' && outgoing ? html`<p><a href="${resultAt}/${outgoing.upload_id}">What becomes of it</a></p>` : nothing}
        ${canChange ? html`<p class="row-of-buttons">${mainButton()}<button type="button" class="button quiet" @click=${cancel}>${state === 'waiting' ? 'Discard' : 'Cancel'}</button></p>` : nothing}
        ${state === 'cancelled' ? nothing : html`<ul class="handing-list" tabindex="0" aria-label="Files">${files.slice(0, LISTED).map(row)}</ul>`}
        ${files.length > LISTED ? html`<p class="small">and ${files.length - LISTED} more</p>` : nothing}
      </section>`,
      place,
    );
  }

  function mainButton() {
    if (state === 'sending') return html`<button type="button" class="button" @click=${pause}>Pause</button>`;
    if (state === 'paused') return html`<button type="button" class="button main" @click=${go}>Go on</button>`;
    if (state === 'stopped') return html`<button type="button" class="button main" @click=${go}>Try again</button>`;
    return nothing;
  }

  function row(file: OutgoingFile) {
    const { name, size, sent } = file;
    const isThere = sent >= size;
    const said = isThere ? 'sent' : sent > 0 ? `${Math.floor((sent / size) * 100)} %` : file.file ? 'waits' : 'missing';
    return html`<li><span>${name}</span><span class="said">${said}</span><progress max=${Math.max(size, 1)} .value=${isThere ? Math.max(size, 1) : sent} aria-label=${name}></progress></li>`;
  }

  if (known) show();
  else void go();
  return panel;
}

function sum(files: readonly OutgoingFile[], of: (file: OutgoingFile) => number): number {
  return files.reduce((all, file) => all + of(file), 0);
}

function count(files: number): string {
  return `${files} ${files === 1 ? 'file' : 'files'}`;
}

function megabytes(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
