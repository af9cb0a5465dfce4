import { countCharacters } from '../losses.ts';
import { escaped, tableOf, widthOf } from './as-document.ts';
import type { OfficePackage } from './office-package.ts';

/** Limits of a sheet on its page: rows and columns, and UTF-16 units of a cell and of all sheets together. */
const ROWS_MAX = 1_000;
const COLUMNS_MAX = 100;
const CELL_MAX = 2_000;
const SHOWN_MAX = 512 * 1_024;
/** The limit of text outside the page that is kept for search, in UTF-16 units. */
const REST_MAX = 1_000_000;

export interface Cell {
  text: string;
  /** The web address that the cell links to. */
  url?: string;
}

export interface Sheet {
  name: string;
  isHidden: boolean;
  rows: (Cell | undefined)[][];
}

/**
 * Renders the sheets as headings and tables, with the first row that has text as the head. A long sheet is truncated,
 * with a note that says how many rows it has; `rest` is the omitted text. Hidden sheets, and text beyond the limit of
 * `rest`, are listed as losses.
 */
export function sheetsToHtml(sheets: readonly Sheet[], { losses }: Pick<OfficePackage, 'losses'>) {
  const rest: string[] = [];
  let [shown, kept, file_characters] = [0, 0, 0];
  const html: string[] = [];
  for (const { name, isHidden, rows } of sheets) {
    const filled = rows.filter((row) => row.some((cell) => cell && cell.text.trim() !== ''));
    const wordsOf = (row: readonly (Cell | undefined)[]) => row.flatMap((cell) => cell?.text ?? []).join('\t');
    file_characters += filled.reduce((sum, row) => sum + countCharacters(wordsOf(row)), 0);
    if (isHidden) {
      if (filled.length > 0) losses.add('hidden_text', `${name}: ${filled.map(wordsOf).join('\n')}`);
      continue;
    }
    const width = Math.min(COLUMNS_MAX, widthOf(filled));
    let count = 0;
    for (const row of filled) {
      const length = wordsOf(row.slice(0, width)).length + 3 * width;
      if (count > ROWS_MAX || (count > 1 && shown + length > SHOWN_MAX)) break;
      shown += length;
      count += 1;
    }
    const table = filled.slice(0, count).map((row) => Array.from({ length: width }, (_, k) => cellHtml(row[k])));
    const left = filled.flatMap((row, i) => {
      const cut = row.map((cell, k) => (i < count && k < width ? cell?.text.slice(CELL_MAX) : cell?.text) ?? '');
      return cut.some((text) => text !== '') ? [cut.filter((text) => text !== '').join('\t')] : [];
    });
    const lost: string[] = [];
    for (const line of left) {
      kept += line.length + 1;
      (kept <= REST_MAX ? rest : lost).push(line);
    }
    if (lost.length > 0) losses.add('cut_text', lost.join('\n'));
    const note =
      count < filled.length
        ? `<p>This page shows the first ${(count - 1).toLocaleString('en')} of ${(filled.length - 1).toLocaleString('en')} rows; the file has them all.</p>`
        : '';
    html.push(`<h2>${escaped(name)}</h2>${tableOf(table)}${note}`);
  }
  return { html: html.join('\n'), file_characters, ...(rest.length > 0 && { rest: rest.join('\n') }) };
}

function cellHtml(cell: Cell | undefined): string {
  const text = escaped(cell?.text.slice(0, CELL_MAX).trim() ?? '');
  return cell?.url && text !== '' ? `<a href="${escaped(cell.url)}">${text}</a>` : text;
}
