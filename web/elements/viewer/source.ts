import type { SourceText } from '../../../src/sources/records/schema.ts';
import { callApi } from '../call-api.ts';
import type { SourceLink } from './messages.ts';
import { barLink, ViewerPanel } from './panel.ts';

/** Text to load before and after the shown text, in UTF-16 units: a few screens. */
const PART = 20_000;

/** Shows the text of a source next to the page: the marked passage with the text around it, and the rest on demand. */
export function openSource(link: HTMLAnchorElement, asked: SourceLink): void {
  const text = document.createElement('div');
  text.className = 'viewer-text';
  text.tabIndex = 0;
  text.setAttribute('role', 'region');
  text.setAttribute('aria-label', 'Source text');
  const panel = new ViewerPanel(link, asked.name, [barLink(link.href, 'Open the source page')], text);
  void new ShownText(panel, text, asked).begin();
}

class ShownText {
  readonly #panel: ViewerPanel;
  readonly #text: HTMLElement;
  readonly #asked: SourceLink;
  readonly #before = document.createTextNode('');
  readonly #mark = document.createElement('mark');
  readonly #after = document.createTextNode('');
  readonly #earlier = moreButton('Earlier text', () => this.#more('before'));
  readonly #later = moreButton('Later text', () => this.#more('after'));
  /** The shown range, in UTF-16 units of the source. */
  #from = 0;
  #to = 0;

  constructor(panel: ViewerPanel, text: HTMLElement, asked: SourceLink) {
    this.#panel = panel;
    this.#text = text;
    this.#asked = asked;
  }

  async begin(): Promise<void> {
    const { start, end } = this.#asked;
    const first = await this.#read(start - PART, end + PART);
    if (!first) return;
    this.#before.data = first.text.slice(0, Math.max(0, start - first.start));
    this.#mark.textContent = first.text.slice(start - first.start, end - first.start);
    this.#after.data = first.text.slice(end - first.start);
    [this.#from, this.#to] = [first.start, first.end];
    this.#text.append(this.#earlier, this.#before, this.#mark, this.#after, this.#later);
    this.#showButtons(first.length);
    this.#mark.scrollIntoView({ block: 'center' });
    this.#panel.ready(this.#text);
  }

  async #more(where: 'before' | 'after'): Promise<void> {
    const isBefore = where === 'before';
    const part = isBefore
      ? await this.#read(this.#from - PART, this.#from)
      : await this.#read(this.#to, this.#to + PART);
    if (!part) return;
    // Keep the visible text in place. Extend the same node, so that a character split between two parts is joined
    // again.
    const bottom = this.#text.scrollHeight - this.#text.scrollTop;
    if (isBefore) this.#before.insertData(0, part.text);
    else this.#after.appendData(part.text);
    this.#from = Math.min(this.#from, part.start);
    this.#to = Math.max(this.#to, part.end);
    this.#showButtons(part.length);
    if (isBefore) this.#text.scrollTop = this.#text.scrollHeight - bottom;
    // A hidden button loses the focus.
    if (!this.#panel.dialog.contains(document.activeElement)) this.#text.focus({ preventScroll: true });
  }

  #showButtons(length: number): void {
    this.#earlier.hidden = this.#from === 0;
    this.#later.hidden = this.#to >= length;
  }

  async #read(start: number, end: number): Promise<SourceText | undefined> {
    const range = new URLSearchParams({ start: String(Math.max(0, start)), end: String(end) });
    try {
      return await callApi<SourceText>('GET', `${this.#asked.text}?${range}`, undefined, this.#panel.ended);
    } catch {
      this.#panel.fail('Could not load the text. Use ↗ to open the source page.');
      return undefined;
    }
  }
}

function moreButton(name: string, press: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  Object.assign(made, { type: 'button', className: 'button quiet', textContent: name, hidden: true });
  made.addEventListener('click', press);
  return made;
}
