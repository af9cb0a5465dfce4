import { hash } from 'node:crypto';
import type { Properties } from 'hast';

/**
 * The form of a block is what it says, as a text: two blocks say the same where their forms are equal. It has the words
 * of the block, and a mark for what changes their meaning without being a word:
 *
 * - Runs of white space are one space, and none at the beginning and the end; code keeps its lines and indentation.
 * - Unicode is in Normalization Form C.
 * - What is struck out, raised, lowered or turned around (by an element, or by a direction that is not that of its letters) stands
 *   between that mark and `end`, and so does what a browser draws from its source: in a formula `%` hides what follows, and `10^6`
 *   is raised.
 * - Each cell of a table begins with `cell`, and each column that another cell covers is one, so that a number cannot change its column. A box of a task is `open` or `done`.
 * - The words that stand for a picture come after `picture`.
 * - What stands elsewhere and belongs to the statement is between `beside` and `within`: the words of the heads of a cell's
 *   column, without which a number in it says nothing, and of a note where its mark stands.
 *
 * Nothing else is in it: bold, italics, the level of a heading and the numbers of notes may change. The marks are
 * noncharacters of Unicode, which a text cannot have: they are replaced in it.
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

/** The version of forms: 1 since they have what is `beside`; 0 before. */
export const FORM_VERSION = 1;

/** Words as a form has them. */
export function withoutMarks(words: string): string {
  return /[\ufdd0-\ufdef]/.test(words) ? words.replace(/[\ufdd0-\ufdef]/g, '\ufffd') : words;
}

/** The form of marks, `withoutMarks` words and what is between them. */
export function formOf(pieces: readonly string[]): string {
  return pieces.join('').replace(/^\n+/, '').trimEnd().normalize('NFC');
}

/** Longer words are repeated by each cell of a column, and by each mark of a note, as their hash. */
const BESIDE_MAX = 64;

/** What stands elsewhere, as a piece of a form. */
export function beside(words: string): string {
  return words === '' ? '' : `${MARKS.beside}${briefly(words)}${MARKS.within}`;
}

function briefly(words: string): string {
  return words.length > BESIDE_MAX || /[\ufdd0-\ufdef]/.test(words) ? hash('sha256', words) : words;
}

/** A form as it was before words that stand elsewhere were in it: nothing was raised or struck around them, nor a second space. */
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

/** A form as it was before `drawn` was a mark, without what is beside; pages that were compiled before have such ones. */
export function withoutDrawn(form: string): string {
  const alone = withoutBeside(form);
  return alone.includes(MARKS.drawn) ? alone.replace(/\ufdd9([^\ufdd0-\ufdef]*)\ufdd3/g, '$1') : alone;
}

/** A form whose marks can be read: for people, and to compare words. What is struck out is not there any more. */
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

/** Columns further right are not told apart by cells that span: a row has as many marks at most. */
const COLUMNS_MAX = 50;

/**
 * The columns of one table that cells of other rows or wider cells cover, as marks of cells for the form of a row: without them a number
 * could be moved into another column by the span of a cell beside or above it.
 */
export class TableColumns {
  /** By column, for how many rows below it is covered from above. */
  private covered: number[] = [];
  private column = 0;

  /** Where the next cell begins, counted from 0. */
  get next(): number {
    return this.column;
  }

  /** The marks of the columns between the last cell and the next one, which has these properties. */
  before({ colSpan, rowSpan }: Properties): string[] {
    const passed = this.pass(() => (this.covered[this.column] ?? 0) > 0);
    // 0 is until the end of the table.
    const rows = rowSpan === undefined ? 1 : Number(rowSpan) || Number.POSITIVE_INFINITY;
    if (rows > 1) {
      const end = Math.min(COLUMNS_MAX, this.column + widthOf(colSpan));
      for (let column = this.column; column < end; column += 1) this.covered[column] = rows;
    }
    return passed;
  }

  /** The marks of the columns that a cell covers besides its first. */
  after({ colSpan }: Properties): string[] {
    const end = Math.min(COLUMNS_MAX, this.column + widthOf(colSpan));
    this.column += 1;
    return this.pass(() => this.column < end);
  }

  /** The marks of the columns behind the last cell of a row. */
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

/** What the heads of one table say of its columns. */
export class TableHeads {
  /** Of the rows before the first one of values, and of the last that divides those. */
  private readonly heads: string[] = [];
  private divisions: string[] = [];
  private hasValues = false;
  private isDivided = false;

  /** Begins a row; `isHead`: its cells are heads of what is below. */
  beginRow(isHead: boolean): void {
    if (!isHead) {
      this.hasValues = true;
      this.isDivided = false;
    } else if (this.hasValues && !this.isDivided) {
      this.divisions = [];
      this.isDivided = true;
    }
  }

  /** Adds the words of a head that begins in this column. */
  add(column: number, properties: Properties, words: string): void {
    const all = this.hasValues ? this.divisions : this.heads;
    for (const at of columnsFrom(column, properties)) all[at] = briefly(`${all[at] ?? ''}\n${words}`);
  }

  /** What a cell of values that begins in this column stands below. */
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
