import type { ChangeSpec } from '@codemirror/state';

export type Alignment = '' | 'left' | 'center' | 'right';

/** A cell's text in the document, without the spaces around it. */
interface Cell {
  from: number;
  to: number;
  text: string;
}

export interface TableText {
  /** The rows of the table; the first row is its head. Rows may have fewer cells than the head. */
  rows: Cell[][];
  alignments: Alignment[];
  /** The lines of the table: the head, the line of dashes, and the rows. */
  lines: { from: number; to: number; cells: Cell[] }[];
}

/** Parses a table of GitHub's Markdown that begins at a position of the document. */
export function readTable(text: string, start: number): TableText {
  let from = start;
  const lines = text.split('\n').map((line) => {
    const read = { from, to: from + line.length, cells: readCells(line, from) };
    from = read.to + 1;
    return read;
  });
  const [head, dashes, ...body] = lines;
  return {
    lines,
    rows: [head, ...body].map((line) => line?.cells ?? []),
    alignments: (dashes?.cells ?? []).map(({ text: mark }) => alignmentOf(mark)),
  };
}

function readCells(line: string, start: number): Cell[] {
  const cells: Cell[] = [];
  const end = line.trimEnd().length;
  let at = line.length - line.trimStart().length;
  // Skip the marks of an enclosing quote.
  while (line[at] === '>') at += 1 + (line[at + 1] === ' ' ? 1 : 0);
  if (line[at] === '|') at += 1;
  while (at < end) {
    let close = at;
    while (close < end && line[close] !== '|') close += line[close] === '\\' ? 2 : 1;
    close = Math.min(close, end);
    const raw = line.slice(at, close);
    const text = raw.trim();
    // The text of an empty cell goes after its first space.
    const lead = text === '' ? Math.min(1, raw.length) : raw.length - raw.trimStart().length;
    const from = start + at + lead;
    cells.push({ from, to: from + text.length, text });
    at = close + 1;
  }
  return cells;
}

function alignmentOf(mark: string): Alignment {
  const [left, right] = [mark.startsWith(':'), mark.endsWith(':')];
  if (left && right) return 'center';
  return left ? 'left' : right ? 'right' : '';
}

const MARKS: Record<Alignment, string> = { '': '---', left: ':--', center: ':-:', right: '--:' };

/** Converts text typed into a cell to Markdown. Its line breaks reuse the cell's previous break tags in order. */
export function cellText(typed: string, was = ''): string {
  const breaks = was.match(/<br\s*\/?>/gi) ?? [];
  let written = 0;
  const nextBreak = () => breaks[Math.min(written++, breaks.length - 1)] ?? '<br>';
  return typed
    .replace(/\n+$/, '')
    .replace(/\r?\n/g, nextBreak)
    .replace(/(\\.)|\|/g, (found, escaped) => (escaped ? found : '\\|'));
}

export function setCell(table: TableText, row: number, column: number, text: string): ChangeSpec {
  const cells = table.rows[row] ?? [];
  const cell = cells[column];
  if (cell) return { from: cell.from, to: cell.to, insert: text };
  // The row has fewer cells than the head.
  const line = lineOf(table, row);
  const missing = column - cells.length;
  return { from: line.to, insert: `${cells.length === 0 ? '| ' : ' '}${'| '.repeat(missing)}${text} |` };
}

const lineIndex = (row: number) => (row === 0 ? 0 : row + 1);
const lineOf = (table: TableText, row: number) =>
  (table.lines[lineIndex(row)] ?? table.lines.at(-1)) as TableText['lines'][number];
const emptyRow = (table: TableText) => `|${'  |'.repeat(table.rows[0]?.length ?? 1)}`;

/** Inserts an empty row below a row. Below the head it becomes the first row. */
export function insertRow(table: TableText, row: number): ChangeSpec {
  const line = row === 0 ? table.lines[1] : lineOf(table, row);
  return { from: line?.to ?? 0, insert: `\n${emptyRow(table)}` };
}

export function deleteRow(table: TableText, row: number): ChangeSpec | undefined {
  if (row === 0) return undefined;
  const { from, to } = lineOf(table, row);
  return { from: from - 1, to };
}

/** Swaps a row with its neighbour. The head does not move. */
export function moveRow(table: TableText, row: number, by: 1 | -1, textOf: (from: number, to: number) => string) {
  const upper = by === 1 ? row : row - 1;
  if (upper < 1 || upper + 1 >= table.rows.length) return undefined;
  const [first, second] = [lineOf(table, upper), lineOf(table, upper + 1)];
  return [
    { from: first.from, to: first.to, insert: textOf(second.from, second.to) },
    { from: second.from, to: second.to, insert: textOf(first.from, first.to) },
  ];
}

/** Inserts an empty column to the right of a column. */
export function insertColumn(
  table: TableText,
  column: number,
  textOf: (from: number, to: number) => string,
): ChangeSpec[] {
  return table.lines.flatMap(({ cells, to }, i) => {
    const cell = cells[column];
    if (!cell) return [];
    const text = i === 1 ? ' --- ' : '  ';
    const bar = textOf(cell.to, to).indexOf('|');
    return [bar < 0 ? { from: to, insert: ` |${text}` } : { from: cell.to + bar + 1, insert: `${text}|` }];
  });
}

export function deleteColumn(table: TableText, column: number, textOf: (from: number, to: number) => string) {
  if ((table.rows[0]?.length ?? 0) < 2) return undefined;
  return table.lines.flatMap(({ cells, from, to }) => {
    const cell = cells[column];
    if (!cell) return [];
    const before = textOf(from, cell.from).lastIndexOf('|');
    const after = textOf(cell.to, to).indexOf('|');
    if (after >= 0) return [{ from: before < 0 ? cell.from : from + before + 1, to: cell.to + after + 1 }];
    return [{ from: before < 0 ? from : from + before, to: cell.to }];
  });
}

/** Swaps a column with its neighbour, including its alignment. */
export function moveColumn(table: TableText, column: number, by: 1 | -1): ChangeSpec[] | undefined {
  const left = by === 1 ? column : column - 1;
  if (left < 0 || left + 1 >= (table.rows[0]?.length ?? 0)) return undefined;
  return table.lines.flatMap(({ cells }) => {
    const [first, second] = [cells[left], cells[left + 1]];
    if (!first || !second) return [];
    return [
      { from: first.from, to: first.to, insert: second.text },
      { from: second.from, to: second.to, insert: first.text },
    ];
  });
}

export function alignColumn(table: TableText, column: number, alignment: Alignment): ChangeSpec | undefined {
  const cell = table.lines[1]?.cells[column];
  if (!cell) return undefined;
  return { from: cell.from, to: cell.to, insert: MARKS[alignment] };
}
