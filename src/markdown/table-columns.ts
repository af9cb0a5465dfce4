import type { Properties } from 'hast';
import { MARKS } from './block-form.ts';

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

function widthOf(colSpan: unknown): number {
  return colSpan === undefined ? 1 : Math.max(1, Number(colSpan) || 1);
}
