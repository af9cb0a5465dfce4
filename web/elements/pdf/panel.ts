import { onPage } from '../on-page.ts';
import { readBeginning, readLibraryFile, readRange } from './file-parts.ts';
import type { FromFrame, OpenRequest, PdfLink, ToFrame } from './messages.ts';

/** As in styles/pdf.css: the window is too narrow for a page and a PDF. */
const NARROW = '(max-width: 52rem)';

let panel: Panel | undefined;

/** Shows a PDF beside the page, opened at the passage that the link names. In a narrow window it covers the page. */
export function openPdf(link: HTMLAnchorElement, shown: PdfLink): void {
  // A box of passages would stay above the panel. It gives the focus back to its mark.
  link.closest<HTMLElement>('[popover]')?.hidePopover();
  const opener = document.activeElement instanceof HTMLElement && document.activeElement !== document.body;
  panel?.close();
  panel = new Panel(link.href, shown, opener ? (document.activeElement as HTMLElement) : link);
}

class Panel {
  readonly #dialog = document.createElement('dialog');
  readonly #frame = document.createElement('iframe');
  readonly #status = document.createElement('p');
  readonly #page = document.createElement('input');
  readonly #pages = document.createElement('span');
  readonly #ended = new AbortController();
  readonly #port = new MessageChannel();
  readonly #address: string;

  constructor(href: string, shown: PdfLink, opener: HTMLElement) {
    [this.#address = ''] = href.split('#');
    this.#dialog.className = 'pdf-panel';
    this.#dialog.setAttribute('aria-label', shown.name);
    this.#status.className = 'pdf-status';
    this.#status.setAttribute('role', 'status');
    this.#status.textContent = 'Loading…';
    this.#frame.setAttribute('sandbox', 'allow-scripts');
    this.#frame.title = shown.name;
    this.#frame.src = '/-/pdf';
    this.#dialog.append(this.#bar(href, shown.name), this.#status, this.#frame);
    this.#dialog.addEventListener('keydown', ({ key }) => key === 'Escape' && this.close());
    this.#dialog.addEventListener('close', () => this.#end(opener));
    document.body.append(this.#dialog);
    document.documentElement.classList.add('with-pdf');
    if (matchMedia(NARROW).matches) this.#dialog.showModal();
    else this.#dialog.show();
    this.#port.port1.onmessage = ({ data }: MessageEvent<FromFrame>) => void this.#receive(data);
    void this.#begin(shown);
  }

  close(): void {
    this.#dialog.close();
  }

  #end(opener: HTMLElement): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#port.port1.close();
    this.#dialog.remove();
    if (panel === this) panel = undefined;
    document.documentElement.classList.toggle('with-pdf', panel !== undefined);
    if (opener.isConnected) opener.focus();
  }

  #bar(href: string, name: string): HTMLElement {
    const bar = document.createElement('div');
    bar.className = 'pdf-bar';
    const title = document.createElement('strong');
    title.textContent = name;
    title.dir = 'auto';
    Object.assign(this.#page, { type: 'number', min: '1', inputMode: 'numeric', value: '', disabled: true });
    this.#page.setAttribute('aria-label', 'Page');
    this.#page.addEventListener('change', () => this.#send({ kind: 'go', page: this.#page.valueAsNumber || 1 }));
    const whole = document.createElement('a');
    whole.className = 'button quiet';
    Object.assign(whole, { href, target: '_blank', textContent: '↗', title: "Open in the browser's viewer" });
    whole.setAttribute('aria-label', whole.title);
    const go = (by: number) => () => this.#send({ kind: 'go', page: (this.#page.valueAsNumber || 1) + by });
    const zoom = (step: -1 | 0 | 1) => () => this.#send({ kind: 'zoom', step });
    bar.append(
      title,
      button('‹', 'Previous page', go(-1)),
      this.#page,
      this.#pages,
      button('›', 'Next page', go(1)),
      button('−', 'Smaller', zoom(-1)),
      button('+', 'Larger', zoom(1)),
      whole,
      button('✕', 'Close the PDF', () => this.close()),
    );
    return bar;
  }

  async #begin(shown: PdfLink): Promise<void> {
    const loaded = new Promise((resolve) => this.#frame.addEventListener('load', resolve, { once: true }));
    try {
      const file = await readBeginning(this.#address, this.#ended.signal);
      await loaded;
      const request: OpenRequest = { ...shown, ...file };
      // An opaque origin cannot be named as a target. The message contains nothing but the file that the frame shows.
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
      this.#status.textContent = '';
      this.#dialog.dataset.ready = '';
      // The keys scroll the PDF.
      if (this.#dialog.contains(document.activeElement)) this.#frame.focus();
    } else if (message.kind === 'problem') this.#fail();
    else if (message.kind === 'close') this.close();
  }

  async #answer(message: FromFrame & { kind: 'range' | 'library' }): Promise<void> {
    const { id } = message;
    const { signal } = this.#ended;
    try {
      const bytes =
        message.kind === 'range'
          ? await readRange(this.#address, message.begin, message.end, signal)
          : await readLibraryFile(String(message.name), signal);
      this.#port.port1.postMessage({ kind: 'bytes', id, bytes } satisfies ToFrame, [bytes.buffer]);
    } catch {
      // The frame says what it cannot show.
      this.#send({ kind: 'bytes', id });
    }
  }

  #send(message: ToFrame): void {
    this.#port.port1.postMessage(message);
  }

  #fail(): void {
    if (this.#ended.signal.aborted) return;
    this.#status.textContent = "It cannot be shown here. ↗ opens it in the browser's viewer.";
  }
}

function button(text: string, name: string, press: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  Object.assign(made, { type: 'button', className: 'button quiet', textContent: text, title: name });
  made.setAttribute('aria-label', name);
  made.addEventListener('click', press);
  return made;
}

// Another page has other sources.
onPage(() => panel?.close());
