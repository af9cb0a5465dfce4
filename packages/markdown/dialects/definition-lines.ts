import type { Line } from './hidden-lines.ts';

const DEFINITION = /^( {0,3}):(?=[ \t]{1,3}\S)/;
/** The beginning of a block other than a paragraph. */
const OTHER_BLOCK = /^ {0,3}(?:[#>|:<]|[-+*][ \t]|\d{1,9}[.)][ \t]|`{3}|~{3}|={2,}|-{2,})/;

/** Finds definitions that are not visible from a single paragraph: Pandoc, PHP Markdown Extra and MkDocs. */
export class DefinitionLines {
  private readonly lines: readonly Line[];
  /** The first line after the last definition and its continuation lines. */
  private end = -1;

  constructor(lines: readonly Line[]) {
    this.lines = lines;
  }

  /**
   * Returns the column of the colon if the line begins a definition that follows an empty line or has several
   * paragraphs; -1 otherwise. Definitions directly below their term are part of a paragraph (`definitionList`).
   */
  colonAt(at: number): number {
    const { text } = this.lines[at] as Line;
    const indent = DEFINITION.exec(text)?.[1]?.length ?? -1;
    if (indent < 0) return -1;
    if (!this.isBehindTerm(at) && at !== this.end) return -1;
    const next = this.blankFrom(at + 1);
    const goesOn = next > at + 1 && /^(?: {4}|\t)/.test(this.textAt(next));
    const isLoose = this.textAt(at - 1).trim() === '' || goesOn || at === this.end;
    if (!isLoose) return -1;
    this.end = this.endOf(at);
    return indent;
  }

  private isBehindTerm(at: number): boolean {
    const isBehindBlank = this.textAt(at - 1).trim() === '';
    const term = this.textAt(isBehindBlank ? at - 2 : at - 1);
    const isText = /^ {0,3}\S/.test(term) && !OTHER_BLOCK.test(term);
    return isText && (!isBehindBlank || this.textAt(at - 3).trim() === '');
  }

  /** Returns the first line after a definition and the empty lines that follow it. */
  private endOf(at: number): number {
    let end = at + 1;
    while (this.textAt(end).trim() !== '' && !DEFINITION.test(this.textAt(end))) end += 1;
    for (;;) {
      const next = this.blankFrom(end);
      if (next === end || !/^(?: {4}|\t)/.test(this.textAt(next))) return next;
      end = next;
      while (this.textAt(end).trim() !== '' && !DEFINITION.test(this.textAt(end))) end += 1;
    }
  }

  private blankFrom(at: number): number {
    let end = at;
    while (end < this.lines.length && this.textAt(end).trim() === '') end += 1;
    return end;
  }

  private textAt(at: number): string {
    return this.lines[at]?.text ?? '';
  }
}
