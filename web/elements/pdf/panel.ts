import { barButton, barLink, ViewerPanel } from '../viewer/panel.ts';
import { readBeginning, readLibraryFile, readRange } from './file-parts.ts';
import type { FromFrame, OpenRequest, PdfLink, ToFrame } from './messages.ts';

/** Shows a PDF next to the page, opened at the passage that the link names. */
export function openPdf(link: HTMLAnchorElement, shown: PdfLink): void {
  new PdfPanel(link, shown);
}

class PdfPanel {
  readonly #panel: ViewerPanel;
  readonly #frame = document.createElement('iframe');
  readonly #page = document.createElement('input');
  readonly #pages = document.createElement('span');
  readonly #port = new MessageChannel();
  readonly #address: string;

  constructor(link: HTMLAnchorElement, shown: PdfLink) {
    [this.#address = ''] = link.href.split('#');
    this.#frame.setAttribute('sandbox', 'allow-scripts');
    this.#frame.title = shown.name;
    this.#frame.src = '/-/pdf';
    this.#panel = new ViewerPanel(link, shown.name, this.#controls(link.href), this.#frame);
    this.#panel.ended.addEventListener('abort', () => this.#port.port1.close());
    this.#port.port1.onmessage = ({ data }: MessageEvent<FromFrame>) => void this.#receive(data);
    void this.#begin(shown);
  }

  #controls(href: string): HTMLElement[] {
    Object.assign(this.#page, { type: 'number', min: '1', inputMode: 'numeric', value: '', disabled: true });
    this.#page.setAttribute('aria-label', 'Page');
    this.#page.addEventListener('change', () => this.#send({ kind: 'go', page: this.#page.valueAsNumber || 1 }));
    const go = (by: number) => () => this.#send({ kind: 'go', page: (this.#page.valueAsNumber || 1) + by });
    const zoom = (step: -1 | 0 | 1) => () => this.#send({ kind: 'zoom', step });
    return [
      barButton('‹', 'Previous page', go(-1)),
      this.#page,
      this.#pages,
      barButton('›', 'Next page', go(1)),
      barButton('−', 'Zoom out', zoom(-1)),
      barButton('+', 'Zoom in', zoom(1)),
      barLink(href, "Open in the browser's viewer"),
    ];
  }

  async #begin(shown: PdfLink): Promise<void> {
    const loaded = new Promise((resolve) => this.#frame.addEventListener('load', resolve, { once: true }));
    try {
      const file = await readBeginning(this.#address, this.#panel.ended);
      await loaded;
      const request: OpenRequest = { ...shown, ...file };
      // An opaque origin cannot be named as a target. The message contains only the file that the frame shows.
      this.#frame.contentWindow?.postMessage(request, '*', [this.#port.port2, file.beginning.buffer]);
    } catch {
      this.#fail();
    }
  }

  async #receive(message: FromFrame): Promise<void> {
    if (message.kind === 'range' || message.kind === 'library') return this.#answer(message);
    if (message.kind === 'at') {
      const [page, pages] = [Math.trunc(Number(message.page)), Math.trunc(Number(message.pages))];
      this.#page.disabled = false;
      this.#page.max = String(pages);
      this.#page.value = String(page);
      this.#pages.textContent = `of ${pages}`;
    } else if (message.kind === 'ready') {
      this.#panel.ready(this.#frame);
    } else if (message.kind === 'problem') this.#fail();
    else if (message.kind === 'close') this.#panel.close();
  }

  async #answer(message: FromFrame & { kind: 'range' | 'library' }): Promise<void> {
    const { id } = message;
    const signal = this.#panel.ended;
    try {
      const bytes =
        message.kind === 'range'
          ? await readRange(this.#address, message.begin, message.end, signal)
          : await readLibraryFile(String(message.name), signal);
      this.#port.port1.postMessage({ kind: 'bytes', id, bytes } satisfies ToFrame, [bytes.buffer]);
    } catch {
      // The frame reports the parts that it cannot show.
      this.#send({ kind: 'bytes', id });
    }
  }

  #send(message: ToFrame): void {
    this.#port.port1.postMessage(message);
  }

  #fail(): void {
    this.#panel.fail("Could not show the PDF here. Use ↗ to open it in the browser's viewer.");
  }
}
