import {
  type Chosen,
  type ChosenFile,
  filesOfDrop,
  filesOfInput,
  type UploadMode,
  type UploadOptions,
} from './chosen-files.ts';
import { listPendingUploads } from './pending-upload.ts';
import { openNewUpload, openPendingUpload, type UploadPanel } from './upload-panel.ts';

/** The upload form. Shows unfinished uploads of this browser above it, which can be resumed. */
class UploadForm extends HTMLElement {
  readonly #panels: UploadPanel[] = [];

  connectedCallback(): void {
    for (const input of this.querySelectorAll<HTMLInputElement>('input[type=file]')) {
      input.addEventListener('change', () => {
        const chosen = filesOfInput(input);
        // Without this, choosing the same files again would fire no event.
        input.value = '';
        void chosen.then((files) => this.upload(files));
      });
    }
    void this.#showPending();
  }

  upload(chosen: Chosen): void {
    if (this.#panels.some((panel) => panel.resume(chosen.files))) return;
    const { wiki = '', to = '' } = this.dataset;
    this.#panels.push(openNewUpload(prependContainer(this), wiki, to, chosen, this.#optionsOf(chosen.files)));
  }

  /** Returns the upload options. Files chosen one by one are never synced, because they are not a complete folder. */
  #optionsOf(chosen: readonly ChosenFile[]): UploadOptions {
    const encoding = this.querySelector<HTMLSelectElement>('select[name=encoding]')?.value ?? '';
    return { mode: this.#modeOf(chosen), encoding };
  }

  #modeOf(chosen: readonly ChosenFile[]): UploadMode {
    const isSync = this.querySelector<HTMLInputElement>('input[name=mode]')?.checked ?? false;
    return isSync && chosen.every(({ name }) => name.includes('/')) ? 'sync' : 'add';
  }

  async #showPending(): Promise<void> {
    const { wiki = '', to = '' } = this.dataset;
    // An error here must not prevent new uploads.
    const begun = await listPendingUploads(wiki).catch(() => []);
    for (const pending of begun) this.#panels.push(openPendingUpload(prependContainer(this), to, pending));
  }
}

/** Accepts files that are dropped anywhere on a page. */
class DropAnywhere extends HTMLElement {
  connectedCallback(): void {
    const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const overlay = document.createElement('div');
    overlay.className = 'veil';
    overlay.hidden = true;
    overlay.textContent = 'Drop files or folders to upload them';
    const panel = document.createElement('div');
    panel.className = 'drop-panel';
    panel.hidden = true;
    this.append(overlay, panel);
    let depth = 0;
    const inEditor = (event: DragEvent) => (event.target as Element | null)?.closest?.('ibid-editor');
    addEventListener('dragenter', (event) => {
      if (!isFiles(event) || inEditor(event)) return;
      depth += 1;
      overlay.hidden = false;
    });
    addEventListener('dragleave', (event) => {
      if (!isFiles(event) || inEditor(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) overlay.hidden = true;
    });
    addEventListener('dragover', (event) => {
      if (isFiles(event)) event.preventDefault();
    });
    addEventListener('drop', async (event) => {
      if (!isFiles(event) || event.defaultPrevented || !event.dataTransfer) return;
      event.preventDefault();
      depth = 0;
      overlay.hidden = true;
      const chosen = await filesOfDrop(event.dataTransfer);
      const form = document.querySelector('ibid-upload');
      if (form instanceof UploadForm) return form.upload(chosen);
      panel.hidden = false;
      await this.#uploadIn(panel, chosen);
    });
  }

  async #uploadIn(panel: HTMLElement, chosen: Chosen): Promise<void> {
    const wiki = this.dataset.wiki ?? '';
    const uploadsUrl = (this.dataset.to ?? '').replace(/upload$/, 'uploads');
    const container = prependContainer(panel);
    // If the service is unreachable, announcing the files fails too and shows the error.
    for (const pending of await listPendingUploads(wiki).catch(() => [])) {
      if (openPendingUpload(container, uploadsUrl, pending).resume(chosen.files)) return;
    }
    openNewUpload(container, wiki, uploadsUrl, chosen, { mode: 'add', encoding: '' });
  }
}

function prependContainer(parent: HTMLElement): HTMLElement {
  const container = document.createElement('div');
  parent.prepend(container);
  return container;
}

customElements.define('ibid-upload', UploadForm);
customElements.define('ibid-drop', DropAnywhere);
