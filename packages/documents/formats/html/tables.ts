import { TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import type { Element, Root } from 'hast';
import { type Children, classesOf, isBlank, NOTE, newElement, newText, textOf, visit } from './elements.ts';

/** Blocks that cells of data tables do not contain. */
const BLOCKS = new Set('blockquote center h1 h2 h3 h4 h5 h6 hr pre table'.split(' '));

/** Elements that start a new line in a cell. */
const LINES = new Set(
  'address article blockquote center dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 li ol p pre section ul'.split(
    ' ',
  ),
);

/** The limit of cells that colspan and rowspan expand to, per document. */
const MAX_SPANNED_CELLS = 100_000;

/** A cell with more text, in UTF-16 units, is a part of a page rather than a value. */
const CELL_MAX = 1_000;

/** A table that consists of links and has more rows is a list, not navigation. */
const NAVIGATION_ROWS = 2;

/**
 * Prepares tables for Markdown, in place: captions move before their tables, layout tables become plain blocks, and the
 * content of a data cell becomes one line. With `isData` (Word, EPUB), where the head is rarely marked, the first row
 * becomes the head, and only a table that contains tables is layout.
 */
export function prepareTables(content: Root, isData: boolean): void {
  let spanned = 0;
  const tables: Element[] = [];
  visit(content, (element) => {
    if (element.tagName === 'table') tables.push(element);
    if (element.tagName !== 'td' && element.tagName !== 'th') return;
    spanned += spanOf(element, 'colSpan') * spanOf(element, 'rowSpan') - 1;
  });
  if (spanned > MAX_SPANNED_CELLS)
    throw new TooComplexError(`cells that span more than ${MAX_SPANNED_CELLS} other cells`);
  if (tables.length === 0) return;
  const seen = new Set<Element>();
  if (isData) for (const table of tables) ensureTableHead(table, seen);
  for (const table of tables.reverse()) {
    if ((!isData && isForNavigation(table)) || isLayout(table)) asBlocks(table);
    else joinCells(table);
  }
  moveCaptions(content);
}

function spanOf({ properties }: Element, name: 'colSpan' | 'rowSpan'): number {
  return Math.max(Number(properties[name]) || 1, 1);
}

/** Makes the first row the head of a table without one. */
function ensureTableHead(table: Element, seen: Set<Element>): void {
  let first: Element | undefined;
  let hasHead = false;
  visit(table, (element) => {
    if (element.tagName === 'tr') first ??= element;
    if (element.tagName === 'th') hasHead = true;
  });
  if (!first || hasHead || seen.has(first)) return;
  seen.add(first);
  for (const cell of first.children) if (cell.type === 'element' && cell.tagName === 'td') cell.tagName = 'th';
}

/**
 * Whether a table is for layout. A data table has header cells above other cells, or rows of equal width (two or more
 * cells) with little text in each cell. In a single row, a header cell is only the label of the other cells.
 */
function isLayout(table: Element): boolean {
  let isData = false;
  let isOuter = false;
  const counts: Record<string, number> = {};
  visit(table, ({ tagName }) => {
    counts[tagName] = (counts[tagName] ?? 0) + 1;
    isOuter ||= tagName === 'table';
    isData ||= tagName === 'th' || tagName === 'caption';
  });
  if (isOuter) return true;
  if (isData) return counts.tr === 1 && counts.td !== undefined && counts.caption === undefined;
  let rows = 0;
  let blocks = 0;
  let spans = 0;
  const widths = new Set<number>();
  visit(table, (element) => {
    if (BLOCKS.has(element.tagName)) blocks += 1;
    if (element.tagName !== 'tr') return;
    rows += 1;
    const cells = element.children.filter((cell) => cell.type === 'element');
    if (cells.some((cell) => textOf(cell).length > CELL_MAX)) blocks += 1;
    if (cells.some((cell) => spanOf(cell, 'rowSpan') > 1)) spans += 1;
    widths.add(cells.reduce((sum, cell) => sum + spanOf(cell, 'colSpan'), 0));
  });
  return blocks > 0 || rows < 2 || widths.has(1) || (widths.size > 1 && spans === 0);
}

/** Whether a table declares itself as layout or navigation, or has few rows, only links and no header cells. */
function isForNavigation(table: Element): boolean {
  const { role, summary } = table.properties;
  if (/^(?:none|presentation)$/.test(String(role)) || /^navigation\b/i.test(String(summary ?? ''))) return true;
  if (/ (?:nav|navbar|navfooter|navheader|navigation) /.test(classesOf(table))) return true;
  let rows = 0;
  let words = 0;
  let linked = 0;
  let hasHead = false;
  visit(table, (element) => {
    if (element.tagName === 'tr') rows += 1;
    hasHead ||= element.tagName === 'th';
    if (/^(?:td|th|caption)$/.test(element.tagName)) words += lettersOf(element);
    if (element.tagName === 'a' && element.properties.href !== undefined) linked += lettersOf(element);
  });
  return !hasHead && rows <= NAVIGATION_ROWS && words > 0 && words === linked;
}

function lettersOf(element: Element): number {
  return textOf(element).replace(/[^\p{L}\p{N}]/gu, '').length;
}

/** Turns a table into blocks; a nested table was already prepared and stays. */
function asBlocks(table: Element): void {
  const open = [table];
  for (let element = open.pop(); element; element = open.pop()) {
    if (/^(?:table|tbody|thead|tfoot|tr|td|th|caption)$/.test(element.tagName)) element.tagName = 'div';
    for (const child of element.children) if (child.type === 'element' && child.tagName !== 'table') open.push(child);
  }
}

function joinCells(table: Element): void {
  visit(table, (cell) => {
    if (cell.tagName !== 'td' && cell.tagName !== 'th') return;
    if (!hasLines(cell)) return;
    const lines: Children[] = [[]];
    collectLines(cell, lines);
    const kept = lines.filter((line) => !line.every(isBlank));
    cell.children = kept.flatMap((line, i): Children => (i === 0 ? line : [newElement('br', {}, []), ...line]));
  });
}

function hasLines(cell: Element): boolean {
  let found = false;
  visit(cell, ({ tagName }) => {
    found ||= LINES.has(tagName);
  });
  return found;
}

/** Splits a cell into lines; list items keep their marks. */
function collectLines(node: Element, lines: Children[]): void {
  let no = Number(node.properties.start) || 1;
  for (const child of node.children) {
    if (child.type === 'element' && LINES.has(child.tagName)) {
      beginLine(lines);
      if (child.tagName === 'li') lines.at(-1)?.push(newText(node.tagName === 'ol' ? `${no++}. ` : '• '));
      if (child.tagName === 'pre') collectCode(child, lines);
      else collectLines(child, lines);
      beginLine(lines);
    } else if (child.type === 'element' && hasLines(child)) collectLines(child, lines);
    else if (!isBlank(child) || !isBegun(lines)) lines.at(-1)?.push(child);
  }
}

/** Makes each line of code a line of the cell, followed by the pictures and note references in the code. */
function collectCode(pre: Element, lines: Children[]): void {
  const written = textOf(pre)
    .replace(/^\n|(?<!\s)\s+$/g, '')
    .split('\n');
  if (written.length === 1) {
    lines.at(-1)?.push(newElement('code', {}, pre.children));
    return;
  }
  for (const text of written) {
    beginLine(lines);
    if (text.trim() !== '') lines.at(-1)?.push(newElement('code', {}, [newText(text)]));
  }
  visit(pre, (element) => {
    if (element.tagName === 'img' || element.properties[NOTE] !== undefined) lines.at(-1)?.push(element);
  });
}

function beginLine(lines: Children[]): void {
  if (!isBegun(lines)) lines.push([]);
}

function isBegun(lines: Children[]): boolean {
  const [mark, ...others] = lines.at(-1) ?? [];
  return mark === undefined || (others.length === 0 && mark.type === 'text' && /^(?:•|\d+\.) $/.test(mark.value));
}

function moveCaptions(node: Root | Element): void {
  node.children = (node.children as Children).flatMap((child): Children => {
    if (child.type !== 'element') return [child];
    moveCaptions(child);
    if (child.tagName !== 'table') return [child];
    const isCaption = (part: Children[number]): part is Element =>
      part.type === 'element' && part.tagName === 'caption';
    const captions = child.children.filter(isCaption);
    child.children = child.children.filter((part) => !isCaption(part));
    return [...captions.map((caption) => newElement('div', {}, caption.children)), child];
  });
}
