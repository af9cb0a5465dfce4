import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy, type PDFPageProxy } from 'pdfjs-dist';
import type { FromFrame, OpenRequest, ToFrame } from './messages.ts';
import { PortFactory, PortRanges, PortReader } from './port-reader.ts';
import { ShownPage } from './shown-page.ts';

/**
 * Starts the worker that parses the file. A document without an origin can start a worker only from a blob, and in
 * Chromium only a classic worker, which loses messages sent before its module has loaded. Throws if the worker cannot
 * be started.
 */
function startWorker(): Promise<Worker> {
  const address = new URL('pdf-worker.js', import.meta.url).href;
  const script = new Blob([`import(${JSON.stringify(address)})`], { type: 'text/javascript' });
  const worker = new Worker(URL.createObjectURL(script));
  return new Promise((resolve, reject) => {
    // The module posts its first message when it is ready.
    worker.addEventListener('message', () => resolve(worker), { once: true });
    worker.addEventListener('error', () => reject(new Error('cannot start the worker')), { once: true });
  });
}

/** Zoom factors; 1 fits the width of the window. */
const ZOOMS = [1, 1.25, 1.5, 2, 3, 4];

/** Maximum number of pages to show, because each page has an element in the column. */
const PAGES_MAX = 20_000;

/** Margin around the pages, in CSS pixels. */
const MARGIN = 8;

/**
 * Shows the file that the embedding page sends. The file may be hostile; the sandbox of web/pages/pdf.ts confines it.
 */
addEventListener('message', ({ source, data, ports: [port] }: MessageEvent<OpenRequest>) => {
  if (source !== parent || !port) return;
  const send = (message: FromFrame) => port.postMessage(message);
  show(data, port, send).catch(() => send({ kind: 'problem' }));
});

async function show(request: OpenRequest, port: MessagePort, send: (message: FromFrame) => void): Promise<void> {
  const { length, beginning } = request;
  const reader = new PortReader(send);
  let column: Column | undefined;
  port.onmessage = ({ data }: MessageEvent<ToFrame>) => {
    if (data.kind === 'bytes') reader.receive(data);
    else if (data.kind === 'go') void column?.goTo(data.page);
    else column?.zoom(data.step);
  };
  GlobalWorkerOptions.workerPort = await startWorker();
  const pdf = await getDocument({
    ...(beginning.length === length
      ? { data: beginning }
      : { range: new PortRanges(length, beginning, reader), disableStream: true, disableAutoFetch: true }),
    // Names of files that PDF.js requests through the port; see PortFactory.
    BinaryDataFactory: PortFactory.reading(reader),
    cMapUrl: 'cmaps/',
    standardFontDataUrl: 'standard_fonts/',
    wasmUrl: 'wasm/',
    useWorkerFetch: false,
    // Otherwise PDF.js would load fonts by a style sheet, which cannot use the port.
    useSystemFonts: false,
    enableXfa: false,
    verbosity: 0,
  }).promise;
  column = new Column(pdf, await pdf.getPage(1), request, send);
  await column.begin();
}

function sizeOfView(): string {
  return `${innerWidth} ${innerHeight}`;
}

/** The pages in a column. Pages near the view are drawn. */
class Column {
  readonly #pages: ShownPage[];
  readonly #request: OpenRequest;
  readonly #send: (message: FromFrame) => void;
  readonly #firstSize: { width: number; height: number };
  readonly #near = new Set<ShownPage>();
  #zoom = 0;
  #at = 0;
  /** The position that the reader scrolled to the middle of the view: a page, and a fraction of its height. */
  #place: { element: HTMLElement; share: number } | undefined;
  /** The scroll offset that was set to keep this position. */
  #keptAt: number | undefined;
  /** The size of the view that the page sizes were computed for. */
  #fitted = '';

  /** `first` is the first page. The other pages use its size until they are read. */
  constructor(pdf: PDFDocumentProxy, first: PDFPageProxy, request: OpenRequest, send: (message: FromFrame) => void) {
    this.#firstSize = first.getViewport({ scale: 1 });
    this.#request = request;
    this.#send = send;
    const count = Math.min(pdf.numPages, PAGES_MAX);
    this.#pages = Array.from({ length: count }, (_, i) => new ShownPage(pdf, i + 1, request));
  }

  async begin(): Promise<void> {
    const { width, height } = this.#firstSize;
    for (const page of this.#pages) page.resize(width, height);
    document.body.append(...this.#pages.map(({ element }) => element));
    this.#fit();
    await this.goTo(this.#request.page);
    this.#watch();
    document.querySelector('.mark')?.scrollIntoView({ block: 'center', inline: 'nearest' });
    this.#notePlace();
    this.#send({ kind: 'ready' });
  }

  /** Shows a page, counted from 1, from its top. */
  async goTo(number: number): Promise<void> {
    const page = this.#pages[Math.max(1, Math.min(Math.trunc(number) || 1, this.#pages.length)) - 1];
    if (!page) return;
    await this.#draw(page);
    page.element.scrollIntoView({ block: 'start' });
    this.#report();
    // Record the position now: the scroll event comes later, and a resize before it would restore the previous
    // position.
    if (this.#fitted === sizeOfView()) this.#noteMiddle();
  }

  zoom(step: -1 | 0 | 1): void {
    const next = step === 0 ? 0 : Math.max(0, Math.min(this.#zoom + step, ZOOMS.length - 1));
    if (next === this.#zoom) return;
    this.#zoom = next;
    this.#redraw();
  }

  #scale(width: number): number {
    return ((document.documentElement.clientWidth - 2 * MARGIN) / width) * (ZOOMS[this.#zoom] ?? 1);
  }

  /** Sets the sizes of all pages, which the style sheet computes from their natural sizes. */
  #fit(): void {
    const { style } = document.documentElement;
    style.setProperty('--column', `${document.documentElement.clientWidth - 2 * MARGIN}px`);
    style.setProperty('--zoom', `${ZOOMS[this.#zoom]}`);
    this.#fitted = sizeOfView();
  }

  /** Redraws the pages at another size and keeps the same place in the middle of the view. */
  #redraw(): void {
    this.#fit();
    if (this.#place) {
      const { element, share } = this.#place;
      const { top, height } = element.getBoundingClientRect();
      scrollTo(scrollX, scrollY + top + share * height - innerHeight / 2);
      this.#keptAt = scrollY;
    }
    for (const page of this.#near) void this.#draw(page);
  }

  /**
   * Ignores scrolling that the browser does during a resize, so that a reader who widens the window again returns to
   * the same position.
   */
  #notePlace(): void {
    if (scrollY !== this.#keptAt && this.#fitted === sizeOfView()) this.#noteMiddle();
  }

  #noteMiddle(): void {
    const element = this.#pages[this.#at - 1]?.element;
    if (!element) return;
    const { top, height } = element.getBoundingClientRect();
    this.#place = { element, share: (innerHeight / 2 - top) / Math.max(1, height) };
    this.#keptAt = undefined;
  }

  #watch(): void {
    const pageOf = new Map<Element, ShownPage>(this.#pages.map((page) => [page.element, page]));
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const page = pageOf.get(target);
          if (!page) continue;
          if (isIntersecting) {
            this.#near.add(page);
            void this.#draw(page);
          } else if (this.#near.delete(page)) page.clear();
        }
      },
      // Set the document as the root: in a frame without an origin the margin would not apply otherwise.
      { root: document, rootMargin: '100% 0px' },
    );
    for (const page of this.#pages) observer.observe(page.element);
    let timer: ReturnType<typeof setTimeout> | undefined;
    addEventListener('resize', () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#redraw(), 150);
    });
    const onScroll = () => {
      this.#report();
      this.#notePlace();
    };
    addEventListener('scroll', onScroll, { passive: true });
    addEventListener('keydown', (event) => this.#press(event));
  }

  async #draw(page: ShownPage): Promise<void> {
    try {
      await page.draw((width) => this.#scale(width));
    } catch {
      // Only this page cannot be read.
      page.element.textContent = 'Could not show this page.';
    }
  }

  /** Reports which page is in the middle of the view. */
  #report(): void {
    const middle = document.elementsFromPoint(innerWidth / 2, innerHeight / 2).find((each) => each.matches('.page'));
    const at = this.#pages.findIndex(({ element }) => element === middle) + 1;
    if (at === 0 || at === this.#at) return;
    this.#at = at;
    this.#send({ kind: 'at', page: at, pages: this.#pages.length });
  }

  #press({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): void {
    if (ctrlKey || metaKey || altKey) return;
    if (key === 'Escape') this.#send({ kind: 'close' });
    else if (key === 'ArrowLeft' || key === 'ArrowRight') void this.goTo(this.#at + (key === 'ArrowLeft' ? -1 : 1));
    else if (key === '+' || key === '-' || key === '0') this.zoom(key === '0' ? 0 : key === '+' ? 1 : -1);
  }
}
