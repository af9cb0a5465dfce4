import { escaped, tableOf } from './as-document.ts';

type Marks = Partial<Record<'strong' | 'em' | 's' | 'sup' | 'sub', boolean>>;

/** The number or letter in front of an item of an ordered list. */
const COUNTED = /^\s*[([]?(?:\d{1,3}|[a-z]{1,4})[.)\]]\s*$/i;

/** Control words that end a paragraph. Cells of a nested table become paragraphs of the outer cell. */
const ENDS = new Set(['par', 'sect', 'page', 'nestcell', 'nestrow']);

/** The paragraph that is currently read. */
interface Open {
  html: string;
  mark: string;
  level: number | undefined;
  depth: number;
  isInTable: boolean;
}

/** Builds HTML blocks from text and control words, fed in the order of the file. */
export class RtfBlocks {
  readonly #notes: string[] = [];
  readonly #around: { open: Open; html: string; url: string }[] = [];
  readonly #lists: string[] = [];
  #html = '';
  #open = empty();
  #rows: string[][] = [];
  #cells: string[] = [];
  #cell = '';
  #url = '';

  text(text: string, marks: Marks): void {
    let words = escaped(text);
    if (text.trim() !== '') {
      for (const [mark, isOn] of Object.entries(marks)) if (isOn) words = `<${mark}>${words}</${mark}>`;
      if (this.#url !== '') words = `<a href="${escaped(this.#url)}">${words}</a>`;
    }
    this.#open.html += words;
  }

  /** Sets the address of the following words of a field; "" ends the link. */
  link(address: string): void {
    this.#url = /^(?:https?|mailto):/i.test(address) ? address : '';
  }

  mark(text: string): void {
    this.#open.mark += text;
  }

  heading(level: number | undefined): void {
    this.#open.level = level;
  }

  word(name: string, value: number): void {
    if (ENDS.has(name)) this.#end();
    else if (name === 'line') this.#open.html += '<br>';
    else if (name === 'pard') this.#open = { ...empty(), html: this.#open.html, mark: this.#open.mark };
    else if (name === 'intbl') this.#open.isInTable = true;
    else if (name === 'ilvl') this.#open.depth = Math.min(8, Math.max(0, value));
    else if (name === 'cell') {
      this.#open.isInTable = true;
      this.#end();
      this.#cells.push(this.#cell);
      this.#cell = '';
    } else if (name === 'row') {
      this.#closeLists(0);
      this.#rows.push(this.#cells);
      this.#cells = [];
      this.#open.isInTable = false;
    }
  }

  beginNote(): void {
    const number = this.#notes.length + this.#around.length + 1;
    this.#open.html += `<sup><a href="#footnote-${number}" id="footnote-ref-${number}">[${number}]</a></sup>`;
    this.#around.push({ open: this.#open, html: this.#html, url: this.#url });
    this.#open = empty();
    this.#html = '';
    this.#url = '';
  }

  endNote(): void {
    const before = this.#around.pop();
    if (!before) return;
    const number = this.#notes.length + 1;
    this.#notes.push(
      `<li id="footnote-${number}">${this.#finishBlocks()} <a href="#footnote-ref-${number}">↑</a></li>`,
    );
    this.#open = before.open;
    this.#html = before.html;
    this.#url = before.url;
  }

  finish(): string {
    const body = this.#finishBlocks();
    return this.#notes.length === 0 ? body : `${body}<ol>${this.#notes.join('')}</ol>`;
  }

  #finishBlocks(): string {
    this.#end();
    // A truncated file ends within a row.
    if (this.#cell !== '') this.#cells.push(this.#cell);
    if (this.#cells.length > 0) this.#rows.push(this.#cells);
    [this.#cell, this.#cells] = ['', []];
    this.#closeTable();
    this.#closeLists(0);
    return this.#html;
  }

  /** Ends a paragraph. Its heading level and list depth stay in effect until they are reset. */
  #end(): void {
    const { level, mark, isInTable, depth, html } = this.#open;
    const words = html.trim();
    this.#open = { ...this.#open, html: '', mark: '' };
    if (words === '') return;
    if (isInTable) {
      this.#cell += `${this.#cell === '' ? '' : '<br>'}${words}`;
      return;
    }
    this.#closeTable();
    if (level !== undefined && level <= 9) {
      this.#closeLists(0);
      this.#html += `<h${Math.min(level, 6)}>${words}</h${Math.min(level, 6)}>`;
    } else if (mark.trim() !== '') this.#addItem(words, COUNTED.test(mark) ? 'ol' : 'ul', depth);
    else {
      this.#closeLists(0);
      this.#html += `<p>${words}</p>`;
    }
  }

  #addItem(words: string, kind: string, depth: number): void {
    const level = Math.min(depth, this.#lists.length) + 1;
    this.#closeLists(level);
    if (this.#lists.length === level && this.#lists.at(-1) !== kind) this.#closeLists(level - 1);
    if (this.#lists.length === level) this.#html += '</li><li>';
    else {
      this.#html += `<${kind}><li>`;
      this.#lists.push(kind);
    }
    this.#html += words;
  }

  #closeLists(depth: number): void {
    while (this.#lists.length > depth) this.#html += `</li></${this.#lists.pop()}>`;
  }

  #closeTable(): void {
    if (this.#rows.length > 0) this.#html += tableOf(this.#rows);
    this.#rows = [];
  }
}

function empty(): Open {
  return { html: '', mark: '', level: undefined, depth: 0, isInTable: false };
}
