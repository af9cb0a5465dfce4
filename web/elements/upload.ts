import { html, nothing, render } from 'lit';
import { ask, Refused } from './ask.ts';
import { type ChosenFile, filesOfDrop, filesOfInput } from './chosen-files.ts';
import { type Sending, sendFiles } from './send-files.ts';

/** More files in one list than anybody reads; the numbers above it count them all. */
const LISTED = 200;

/** Shows in `place` how files are handed over, file by file, and goes on to what becomes of them. */
function handOver(place: HTMLElement, wiki: string, resultAt: string, files: readonly ChosenFile[]): void {
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  let sending: Sending | undefined;
  let bytes = 0;
  let problem: unknown;

  const show = () => {
    let before = 0;
    const rows = files.slice(0, LISTED).map(({ name, file }) => {
      const sent = Math.min(Math.max(bytes - before, 0), file.size);
      before += file.size;
      return html`<li><span class="file">${name}</span><progress max=${Math.max(file.size, 1)} .value=${file.size === 0 ? Number(bytes > 0) : sent} aria-label=${name}></progress></li>`;
    });
    render(
      html`<div class="handing">
        <p role="status"><strong>${files.length === 0 ? 'There is nothing to hand over' : `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${megabytes(total)}`}</strong>${problem === undefined && sending ? html`: ${total === 0 ? 0 : Math.min(100, Math.round((bytes / total) * 100))} %` : nothing}</p>
        ${files.length === 0 ? html`<p>The folder is empty, or holds only files that hide.</p>` : nothing}
        <progress max=${Math.max(total, 1)} .value=${Math.min(bytes, total)} aria-label="All files"></progress>
        ${problem === undefined ? nothing : html`<div class="note bad" role="alert"><p>${wordsOf(problem)}</p><button type="button" class="button" @click=${start}>Try again</button></div>`}
        ${sending && problem === undefined ? html`<button type="button" class="button quiet" @click=${() => sending?.cancel()}>Cancel</button>` : nothing}
        <ul class="handing-list">${rows}</ul>
        ${files.length > LISTED ? html`<p class="small">and ${files.length - LISTED} more</p>` : nothing}
      </div>`,
      place,
    );
  };

  const start = async () => {
    problem = undefined;
    bytes = 0;
    sending = sendFiles(wiki, files, (sent) => {
      bytes = sent;
      show();
    });
    show();
    try {
      const upload = await sending.done;
      location.href = `${resultAt}/${upload}`;
    } catch (error) {
      problem = error;
      sending = undefined;
      show();
    }
  };
  if (files.length === 0) show();
  else void start();
}

function wordsOf(problem: unknown): string {
  if (problem instanceof Refused)
    return `${problem.message}${problem.request_id ? ` (request ${problem.request_id})` : ''}`;
  return 'It was cancelled; nothing was handed over.';
}

function megabytes(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The page where files are chosen. */
class UploadForm extends HTMLElement {
  connectedCallback(): void {
    const place = document.createElement('div');
    this.append(place);
    for (const input of this.querySelectorAll('input[type=file]')) {
      input.addEventListener('change', () => {
        handOver(place, this.dataset.wiki ?? '', this.dataset.to ?? '', filesOfInput(input as HTMLInputElement));
      });
    }
  }
}

/** Files may be dropped anywhere. */
class DropAnywhere extends HTMLElement {
  connectedCallback(): void {
    const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const veil = document.createElement('div');
    veil.className = 'veil';
    veil.hidden = true;
    veil.textContent = 'Drop files or folders to hand them over';
    const panel = document.createElement('div');
    panel.className = 'drop-panel';
    panel.hidden = true;
    this.append(veil, panel);
    let depth = 0;
    const inEditor = (event: DragEvent) => (event.target as Element | null)?.closest?.('ibid-editor');
    addEventListener('dragenter', (event) => {
      if (!isFiles(event) || inEditor(event)) return;
      depth += 1;
      veil.hidden = false;
    });
    addEventListener('dragleave', (event) => {
      if (!isFiles(event) || inEditor(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) veil.hidden = true;
    });
    addEventListener('dragover', (event) => {
      if (isFiles(event)) event.preventDefault();
    });
    addEventListener('drop', async (event) => {
      if (!isFiles(event) || event.defaultPrevented || !event.dataTransfer) return;
      event.preventDefault();
      depth = 0;
      veil.hidden = true;
      const files = await filesOfDrop(event.dataTransfer);
      panel.hidden = false;
      handOver(panel, this.dataset.wiki ?? '', (this.dataset.to ?? '').replace(/upload$/, 'uploads'), files);
    });
  }
}

interface JobState {
  kind: string;
  progress: number;
  status: string;
  summary: string;
}

/** What becomes of an upload, while it does. */
class RunningUpload extends HTMLElement {
  #timer: ReturnType<typeof setTimeout> | undefined;

  connectedCallback(): void {
    if (this.dataset.running !== undefined) this.#look(300);
  }

  disconnectedCallback(): void {
    clearTimeout(this.#timer);
  }

  #look(wait_ms: number): void {
    this.#timer = setTimeout(async () => {
      const api = this.dataset.api ?? '';
      try {
        const upload = await ask<{ upload_id: string; wiki_id: string; finished_at?: string }>('GET', api);
        if (upload.finished_at) return location.reload();
        const jobs = await ask<JobState[]>('GET', `/v1/wikis/${upload.wiki_id}/jobs?upload_id=${upload.upload_id}`);
        const bars = this.querySelectorAll('progress');
        for (const [i, job] of jobs.entries()) {
          const bar = bars[i];
          if (bar) bar.value = job.progress;
        }
      } catch (error) {
        // What is over cannot be asked about any more; whatever else may pass.
        if (error instanceof Refused && (error.status === 401 || error.status === 404)) return location.reload();
      }
      this.#look(Math.min(wait_ms * 1.3, 3_000));
    }, wait_ms);
  }
}

customElements.define('ibid-upload', UploadForm);
customElements.define('ibid-drop', DropAnywhere);
customElements.define('ibid-job', RunningUpload);
