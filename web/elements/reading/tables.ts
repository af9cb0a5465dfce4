import { announce } from './copy.ts';

/** Tables with fewer rows need no sorting. */
const ROWS_MIN = 3;

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Adds a button to each head cell that sorts the rows: ascending, descending, and back to their original order. */
export function sortTables(prose: HTMLElement): void {
  for (const table of prose.querySelectorAll('table')) {
    const body = table.tBodies[0];
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    // Sorting would break cells that span several rows or columns.
    if (!body || table.tBodies.length > 1 || body.rows.length < ROWS_MIN || heads.length === 0) continue;
    if (table.querySelector('[rowspan], [colspan]') || table.parentElement?.closest('table')) continue;
    const written = [...body.rows];
    for (const [column, head] of heads.entries()) addButton(body, written, heads, head, column);
  }
}

function addButton(
  body: HTMLTableSectionElement,
  written: readonly HTMLTableRowElement[],
  heads: readonly HTMLElement[],
  head: HTMLElement,
  column: number,
): void {
  // An empty head cell would give the button no name, and a link in it would no longer work.
  if (head.textContent?.trim() === '' || head.querySelector('a, button, input')) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'sort';
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener('click', () => {
    const before = head.getAttribute('aria-sort');
    const order = before === null ? 'ascending' : before === 'ascending' ? 'descending' : undefined;
    for (const each of heads) each.removeAttribute('aria-sort');
    if (order) head.setAttribute('aria-sort', order);
    body.append(...(order ? sorted(written, column, order === 'ascending' ? 1 : -1) : written));
    announce(order ? `Sorted by ${head.textContent}, ${order}` : 'Original order');
  });
}

/** Sorts rows by a column. Rows without a value come last in both directions. */
function sorted(rows: readonly HTMLTableRowElement[], column: number, sign: 1 | -1): HTMLTableRowElement[] {
  const keyed = rows.map((row) => [row, (row.cells[column]?.textContent ?? '').trim()] as const);
  return keyed
    .sort(([, a], [, b]) => (a === '' || b === '' ? Number(a === '') - Number(b === '') : sign * compare(a, b)))
    .map(([row]) => row);
}

function compare(a: string, b: string): number {
  const [x, y] = [numberOf(a), numberOf(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? collator.compare(a, b) : x - y;
}

/** Parses `1,234.5`, `-3 %` and `$20`; NaN for other texts. */
function numberOf(text: string): number {
  const digits = /^[$€£]?\s*([-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*(?:%|[$€£])?$/.exec(text)?.[1];
  return digits === undefined ? Number.NaN : Number(digits.replaceAll(',', '').replace('−', '-'));
}
