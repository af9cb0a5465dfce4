import { type PDFDocumentProxy, type PDFPageProxy, type RenderTask, TextLayer } from 'pdfjs-dist';
import { piecesOfQuote } from './find-quote.ts';
import type { PdfLink } from './messages.ts';

/** Maximum area of a canvas on mobile browsers, in device pixels. */
const CANVAS_MAX = 16_000_000;

/** A page of the PDF: its element in the column, and its canvas and text while it is near the view. */
export class ShownPage {
  readonly element = document.createElement('section');
  readonly #pdf: PDFDocumentProxy;
  readonly #number: number;
  readonly #marks: PdfLink;
  #page: Promise<PDFPageProxy> | undefined;
  #width = 0;
  /** The text over the picture. A change of the scale keeps its elements, so that a selection survives. */
  #text: TextLayer | undefined;
  #canvas: HTMLCanvasElement | undefined;
  #drawn: { scale: number; done: Promise<void>; task: RenderTask | undefined } | undefined;

  constructor(pdf: PDFDocumentProxy, number: number, marks: PdfLink) {
    this.#pdf = pdf;
    this.#number = number;
    this.#marks = marks;
    this.element.className = 'page';
    this.element.setAttribute('aria-label', `Page ${number}`);
  }

  /** Sets the size in CSS pixels without zoom. Until the page is read, this is the size of the first page. */
  resize(width: number, height: number): void {
    this.#width = width;
    this.element.style.setProperty('--width', `${width}`);
    this.element.style.setProperty('--height', `${height}`);
  }

  /** Reads the page and sets its size. Throws the error of PDF.js for a page that cannot be read. */
  async read(): Promise<PDFPageProxy> {
    this.#page ??= this.#pdf.getPage(this.#number);
    const page = await this.#page;
    const { width, height } = page.getViewport({ scale: 1 });
    if (width !== this.#width) this.resize(width, height);
    return page;
  }

  /**
   * Draws the page at a scale that depends on its width in CSS pixels. A new scale cancels drawing at the previous one.
   */
  async draw(scaleOf: (width: number) => number): Promise<void> {
    const page = await this.read();
    const scale = scaleOf(this.#width);
    if (this.#drawn?.scale === scale) return this.#drawn.done;
    this.#drawn?.task?.cancel();
    const drawing = { scale, task: undefined as RenderTask | undefined, done: Promise.resolve() };
    this.#drawn = drawing;
    drawing.done = this.#drawPage(page, scale, drawing);
    return drawing.done;
  }

  /** Releases the memory of the picture. */
  clear(): void {
    this.#drawn?.task?.cancel();
    this.#drawn = undefined;
    this.#text = undefined;
    this.#keep(undefined);
    this.element.replaceChildren();
  }

  async #drawPage(page: PDFPageProxy, scale: number, drawing: { task: RenderTask | undefined }): Promise<void> {
    const viewport = page.getViewport({ scale });
    const area = viewport.width * viewport.height;
    const density = Math.min(devicePixelRatio || 1, Math.sqrt(CANVAS_MAX / area));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.floor(viewport.width * density));
    canvas.height = Math.max(1, Math.floor(viewport.height * density));
    drawing.task = page.render({ canvas, viewport, transform: [density, 0, 0, density, 0, 0] });
    try {
      await drawing.task.promise;
    } catch (error) {
      if ((error as Error).name === 'RenderingCancelledException') return;
      throw error;
    }
    if (this.#text && this.#drawn === drawing) {
      this.#canvas?.replaceWith(canvas);
      this.#keep(canvas);
      this.#text.update({ viewport });
      return;
    }
    const layer = document.createElement('div');
    layer.className = 'textLayer';
    const text = new TextLayer({ textContentSource: await page.getTextContent(), container: layer, viewport });
    await text.render();
    if (this.#drawn !== drawing) return;
    this.#text = text;
    this.#keep(canvas);
    this.element.replaceChildren(canvas, ...this.#boxes(), layer);
    if (this.#marks.boxes.length === 0) this.#markQuote(text);
  }

  /** Releases the memory of the previous picture. */
  #keep(canvas: HTMLCanvasElement | undefined): void {
    if (this.#canvas) this.#canvas.width = 0;
    this.#canvas = canvas;
  }

  #boxes(): HTMLElement[] {
    const [width, height] = ['--width', '--height'].map((name) => Number(this.element.style.getPropertyValue(name)));
    return this.#marks.boxes
      .filter(({ page }) => page === this.#number)
      .map(({ left, top, right, bottom }) => {
        const mark = document.createElement('div');
        mark.className = 'mark';
        const percent = (points: number, of = 1) => `${(100 * points) / of}%`;
        Object.assign(mark.style, {
          left: percent(left, width),
          top: percent(top, height),
          width: percent(right - left, width),
          height: percent(bottom - top, height),
        });
        return mark;
      });
  }

  #markQuote({ textDivs, textContentItemsStr }: TextLayer): void {
    const { page, lastPage, quote } = this.#marks;
    if (this.#number < page || this.#number > lastPage) return;
    for (const at of piecesOfQuote(textContentItemsStr, quote)) textDivs[at]?.classList.add('mark');
  }
}
