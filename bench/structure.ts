import type { List, Nodes, Table } from 'mdast';
import { parseMarkdown } from '../src/markdown/parse-markdown.ts';
import { countEach, take, wordsOf } from './lost-words.ts';

/**
 * The structure of a document as texts that are compared: a heading with its level, an item with its nesting and whether
 * its list is numbered, a cell with its row and column. What is in a cell is no item of its own.
 */
export interface Structure {
  headings: string[];
  items: string[];
  cells: string[];
}

export const STRUCTURES = ['headings', 'items', 'cells'] as const;

export function emptyStructure(): Structure {
  return { headings: [], items: [], cells: [] };
}

/** What two readers have in common, and what both have together. */
export interface Matches {
  common: number;
  all: number;
  /** What only one of them has. */
  only_theirs: string[];
  only_ours: string[];
}

/**
 * `isPartial`: of their elements letters may be missing, as pdfinfo leaves out what follows a ligature in a piece of text,
 * and what has a role that it does not know.
 */
export function matches(theirs: readonly string[], ours: readonly string[], isPartial: boolean): Matches {
  const left = countEach(ours);
  let only_theirs = theirs.filter((each) => !take(left, each));
  const others = countEach(theirs);
  const only_ours = ours.filter((each) => !take(others, each));
  if (isPartial) {
    only_theirs = only_theirs.filter((each) => {
      const found = only_ours.findIndex((other) => isPartOf(each, other));
      if (found >= 0) only_ours.splice(found, 1);
      return found < 0;
    });
  }
  return { common: theirs.length - only_theirs.length, all: theirs.length + ours.length, only_theirs, only_ours };
}

/** Whether an element is another of the same kind and place with some letters missing. */
function isPartOf(part: string, whole: string): boolean {
  const placeOf = (element: string) => element.slice(0, element.lastIndexOf(' '));
  if (part.length >= whole.length || placeOf(part) !== placeOf(whole)) return false;
  let at = 0;
  for (const letter of part) {
    at = whole.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

export function addHeading(structure: Structure, level: number, text: string): void {
  const words = plain(text);
  if (words !== '') structure.headings.push(`${level} ${words}`);
}

export function addItem(structure: Structure, depth: number, ordered: boolean, text: string): void {
  // The mark of an item belongs to the text of one reader and not to that of another.
  const words = plain(text.replace(/^\s*(?:[•‣◦▪●○■–*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)])\s/, ' '));
  if (words !== '') structure.items.push(`${depth} ${ordered ? 'numbered' : 'plain'} ${words}`);
}

function addCell(structure: Structure, row: number, column: number, text: string): void {
  const words = plain(text.replace(/(?:^|\n)(?:[•☐☑]|\d{1,3}\.)\s/g, ' '));
  if (words !== '') structure.cells.push(`${row} ${column} ${words}`);
}

/** Letters and digits only: readers divide the words of formatted text differently. */
function plain(text: string): string {
  return wordsOf(text).join('');
}

/** The structure of our Markdown. */
export function structureOfMarkdown(markdown: string): Structure {
  const structure = emptyStructure();
  const walk = (node: Nodes, depth: number): void => {
    if (node.type === 'footnoteDefinition') return;
    if (node.type === 'heading') addHeading(structure, node.depth, textOf(node));
    else if (node.type === 'list') addItems(structure, node, depth, walk);
    else if (node.type === 'table') addCells(structure, node);
    else if ('children' in node) for (const child of node.children) walk(child, depth);
  };
  walk(parseMarkdown(markdown), 0);
  return structure;
}

function addItems(structure: Structure, list: List, depth: number, walk: (node: Nodes, depth: number) => void): void {
  for (const { children } of list.children) {
    const own = children.flatMap((child) => (child.type === 'blockquote' ? child.children : [child]));
    addItem(
      structure,
      depth,
      list.ordered ?? false,
      own
        .filter(({ type }) => type === 'paragraph')
        .map(textOf)
        .join('\n'),
    );
    for (const child of children) walk(child, depth + 1);
  }
}

function addCells(structure: Structure, { children }: Table): void {
  addRows(
    structure,
    children.map(({ children: cells }) => cells.map(textOf)),
  );
}

/** Rows without words, of pictures or of nothing, are not counted. */
export function addRows(structure: Structure, rows: readonly (readonly string[])[]): void {
  for (const [row, cells] of rows.filter((each) => each.some((text) => plain(text) !== '')).entries())
    for (const [column, text] of cells.entries()) addCell(structure, row, column, text);
}

/** Without formulas, which every reader writes in its own characters, and marks of notes. */
function textOf(node: Nodes): string {
  if (node.type === 'break' || (node.type === 'html' && /^<br/.test(node.value))) return '\n';
  if (node.type === 'text' || node.type === 'inlineCode') return node.value;
  if (node.type === 'image') return node.alt ?? '';
  return 'children' in node ? node.children.map(textOf).join('') : '';
}

export interface SpanningCell {
  rowSpan: number;
  columnSpan: number;
  text: string;
}

/** Rows with an empty text where a cell of another row or column reaches. */
export function gridOf(rows: readonly (readonly SpanningCell[])[]): string[][] {
  const grid: string[][] = rows.map(() => []);
  for (const [row, cells] of rows.entries()) {
    let column = 0;
    for (const { rowSpan, columnSpan, text } of cells) {
      while (grid[row]?.[column] !== undefined) column += 1;
      for (let i = 0; i < rowSpan; i += 1) {
        for (let k = 0; k < columnSpan; k += 1) {
          const line = grid[row + i];
          if (line) line[column + k] = i + k === 0 ? text : '';
        }
      }
      column += columnSpan;
    }
  }
  return grid.map((line) => Array.from(line, (text) => text ?? ''));
}
