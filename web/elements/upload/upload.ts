import { type ChosenFile, filesOfDrop, filesOfInput } from './chosen-files.ts';
import { unfinished } from './outgoing.ts';
import { openNewUpload, openOldUpload, type UploadPanel } from './upload-panel.ts';

/** The page where files are chosen: what was begun here before and is not finished stands above, to go on with. */
class UploadForm extends HTMLElement {
  readonly #panels: UploadPanel[] = [];

  connectedCallback(): void {
    for (const input of this.querySelectorAll<HTMLInputElement>('input[type=file]')) {
      input.addEventListener('change', () => {
        this.take(filesOfInput(input));
        // So that the same files can be chosen again.
        input.value = '';
      });
    }
    void this.#showUnfinished();
  }

  take(chosen: readonly ChosenFile[]): void {
    if (this.#panels.some((panel) => panel.take(chosen))) return;
    const { wiki = '', to = '' } = this.dataset;
    this.#panels.push(openNewUpload(placeIn(this), wiki, to, chosen));
  }

  async #showUnfinished(): Promise<void> {
    const { wiki = '', to = '' } = this.dataset;
    // Where the service cannot be asked now, files can be chosen all the same.
    const begun = await unfinished(wiki).catch(() => []);
    for (const outgoing of begun) this.#panels.push(openOldUpload(placeIn(this), to, outgoing));
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
      const chosen = await filesOfDrop(event.dataTransfer);
      const form = document.querySelector('ibid-upload');
      if (form instanceof UploadForm) return form.take(chosen);
      panel.hidden = false;
      await this.#takeInto(panel, chosen);
    });
  }

  async #takeInto(panel: HTMLElement, chosen: readonly ChosenFile[]): Promise<void> {
    const wiki = this.dataset.wiki ?? '';
    const resultAt = (this.dataset.to ?? '').replace(/upload$/, 'uploads');
    const place = placeIn(panel);
    // Where the service cannot be asked now it may be so again when the files are announced, and then it is said.
    for (const outgoing of await unfinished(wiki).catch(() => [])) {
      if (openOldUpload(place, resultAt, outgoing).take(chosen)) return;
    }
    openNewUpload(place, wiki, resultAt, chosen);
  }
}

function placeIn(parent: HTMLElement): HTMLElement {
  const place = document.createElement('div');
  parent.prepend(place);
  return place;
}

customElements.define('ibid-upload', UploadForm);
customElements.define('ibid-drop', DropAnywhere);
