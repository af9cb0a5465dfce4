import { hash } from 'node:crypto';
import type { Properties } from 'hast';

/**
 * The form of a block is its statement as text: two blocks say the same if their forms are equal. A form holds the
 * words of the block, and marks for markup that changes their meaning:
 *
 * - A run of white space is one space, and forms have no leading or trailing space. Code keeps its lines and
 *   indentation.
 * - Unicode is in Normalization Form C.
 * - Words that are struck out, raised, lowered or turned around (by an element, or by a direction that contradicts
 *   their letters) are enclosed in that mark and `end`. So is source that a browser draws: in a formula, `%` hides the
 *   rest of the line and `10^6` is raised.
 * - Each cell of a table begins with `cell`. A column that another cell covers has a `cell` too, so that a number
 *   cannot change its column unnoticed. A task's box is `open` or `done`.
 * - The alternative text of a picture follows `picture`.
 * - Words from elsewhere that belong to the statement are enclosed in `MARKS.beside` and `within`: the headers of a
 *   cell's column, without which its number says nothing, and the words of a note at its reference.
 *
 * A form holds nothing else: bold, italics, heading levels and the numbers of notes may change. The marks are Unicode
 * noncharacters, which are replaced if they occur in a text.
 */
export const MARKS = {
  struck: '\ufdd0',
  raised: '\ufdd1',
  lowered: '\ufdd2',
  end: '\ufdd3',
  cell: '\ufdd4',
  open: '\ufdd5',
  done: '\ufdd6',
  picture: '\ufdd7',
  turned: '\ufdd8',
  drawn: '\ufdd9',
  beside: '\ufdda',
  within: '\ufddb',
};

/** Version of the forms: 1 added the words from elsewhere (column headers and notes); 0 lacks them. */
export const FORM_VERSION = 1;

/** Replaces noncharacters in words, so that they cannot be mistaken for marks. */
export function withoutMarks(words: string): string {
  return /[\ufdd0-\ufdef]/.test(words) ? words.replace(/[\ufdd0-\ufdef]/g, '\ufffd') : words;
}

/** Joins marks, white space and `withoutMarks` words into a form. */
export function formOf(pieces: readonly string[]): string {
  return pieces.join('').replace(/^\n+/, '').trimEnd().normalize('NFC');
}

/** Longer words are stored as their hash, because every cell of a column and every reference to a note repeats them. */
const BESIDE_MAX = 64;

/** Returns words from elsewhere as a piece of a form. */
export function beside(words: string): string {
  return words === '' ? '' : `${MARKS.beside}${briefly(words)}${MARKS.within}`;
}

function briefly(words: string): string {
  return words.length > BESIDE_MAX || /[\ufdd0-\ufdef]/.test(words) ? hash('sha256', words) : words;
}

/**
 * Converts a form to version 0: removes the words from elsewhere, marks that enclosed only them, and the double space
 * they leave.
 */
export function withoutBeside(form: string): string {
  if (!form.includes(MARKS.beside)) return form;
  let alone = form.replace(/\ufdda[^\ufddb]*\ufddb/g, MARKS.beside);
  for (let before = ''; before !== alone; ) {
    before = alone;
    alone = alone.replace(/[\ufdd0-\ufdd2\ufdd8]\ufdda+\ufdd3/g, MARKS.beside);
  }
  return alone
    .replace(/( ?)\ufdda+( ?)/g, (_, before: string, behind: string) => before || behind)
    .trimEnd()
    .normalize('NFC');
}

/**
 * Converts a form to version 0 without `drawn` marks, as stored with pages that were compiled before that mark existed.
 */
export function withoutDrawn(form: string): string {
  const alone = withoutBeside(form);
  return alone.includes(MARKS.drawn) ? alone.replace(/\ufdd9([^\ufdd0-\ufdef]*)\ufdd3/g, '$1') : alone;
}

/**
 * Returns a form with readable signs for its marks, for display and for comparing words. Struck-out words are left out.
 */
export function wordsOfForm(form: string): string {
  let depth = 0;
  let words = '';
  for (const [piece] of withoutBeside(form).matchAll(/[\ufdd0-\ufdd9]|[^\ufdd0-\ufdd9]+/g)) {
    if (piece === MARKS.struck || (depth > 0 && BEGINS.has(piece))) depth += 1;
    else if (depth === 0) words += SIGNS[piece] ?? piece;
    else if (piece === MARKS.end) depth -= 1;
  }
  return words.replace(/^[ |]+| +$/g, '');
}

const BEGINS = new Set([MARKS.raised, MARKS.lowered, MARKS.turned, MARKS.drawn]);

const SIGNS: Record<string, string> = {
  [MARKS.raised]: '^(',
  [MARKS.lowered]: '_(',
  [MARKS.end]: ')',
  [MARKS.cell]: ' | ',
  [MARKS.open]: '[ ] ',
  [MARKS.done]: '[x] ',
  [MARKS.picture]: '[picture] ',
  [MARKS.turned]: '(turned: ',
  [MARKS.drawn]: '(drawn: ',
};

/** Spans beyond this column are ignored, which bounds the marks of a row. */
const COLUMNS_MAX = 50;

/**
 * Tracks the columns of a table that row and column spans cover, and returns cell marks for them. Without these marks,
 * the span of a neighbouring cell could move a number into another column without changing the form of its row.
 */
export class TableColumns {
  /** For each column, the number of rows that a cell above it still covers. */
  private covered: number[] = [];
  private column = 0;

  /** The column at which the next cell begins, counted from 0. */
  get next(): number {
    return this.column;
  }

  /** Returns the marks of covered columns before the next cell, which has these properties. */
  before({ colSpan, rowSpan }: Properties): string[] {
    const passed = this.pass(() => (this.covered[this.column] ?? 0) > 0);
    // A span of 0 rows extends to the end of the table.
    const rows = rowSpan === undefined ? 1 : Number(rowSpan) || Number.POSITIVE_INFINITY;
    if (rows > 1) {
      const end = Math.min(COLUMNS_MAX, this.column + widthOf(colSpan));
      for (let column = this.column; column < end; column += 1) this.covered[column] = rows;
    }
    return passed;
  }

  /** Returns the marks of the columns that a cell covers after its first. */
  after({ colSpan }: Properties): string[] {
    const end = Math.min(COLUMNS_MAX, this.column + widthOf(colSpan));
    this.column += 1;
    return this.pass(() => this.column < end);
  }

  /** Returns the marks of covered columns after the last cell of a row. */
  endRow(): string[] {
    const passed = this.pass(() => this.column < this.covered.length && (this.covered[this.column] ?? 0) > 0);
    this.covered = this.covered.map((rows) => Math.max(0, rows - 1));
    this.column = 0;
    return passed;
  }

  private pass(isPassed: () => boolean): string[] {
    const marks: string[] = [];
    for (; this.column < COLUMNS_MAX && isPassed(); this.column += 1) marks.push(MARKS.cell);
    return marks;
  }
}

/** Collects the header cells of one table, by column. */
export class TableHeads {
  /** Headers above the first row of values (`heads`), and the latest headers between rows of values (`divisions`). */
  private readonly heads: string[] = [];
  private divisions: string[] = [];
  private hasValues = false;
  private isDivided = false;

  /** Begins a row; `isHead`: its cells are headers of the rows below. */
  beginRow(isHead: boolean): void {
    if (!isHead) {
      this.hasValues = true;
      this.isDivided = false;
    } else if (this.hasValues && !this.isDivided) {
      this.divisions = [];
      this.isDivided = true;
    }
  }

  /** Adds the words of a header cell that begins in this column. */
  add(column: number, properties: Properties, words: string): void {
    const all = this.hasValues ? this.divisions : this.heads;
    for (const at of columnsFrom(column, properties)) all[at] = briefly(`${all[at] ?? ''}\n${words}`);
  }

  /** Returns the headers above a cell of values that begins in this column. */
  above(column: number, properties: Properties): string {
    return columnsFrom(column, properties)
      .map((at) => [this.heads[at] ?? '', this.divisions[at] ?? ''].join('').trim())
      .join('\n')
      .trim();
  }
}

function columnsFrom(column: number, { colSpan }: Properties): number[] {
  const end = Math.max(column + 1, Math.min(COLUMNS_MAX, column + widthOf(colSpan)));
  return Array.from({ length: end - column }, (_, i) => column + i);
}

function widthOf(colSpan: unknown): number {
  return colSpan === undefined ? 1 : Math.max(1, Number(colSpan) || 1);
}
