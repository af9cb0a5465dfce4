import type { Element, Root } from 'hast';
import { type HtmlNode, isBlank, isBlock, isElement, newElement, newText, rewrite, styleOf, textOf } from './hast.ts';
import { unwrap } from './marks.ts';

const PARTS = /^(?:table|tbody|thead|tfoot|tr|td|th)$/;

/**
 * Shapes tables as Markdown needs them: a head, cells of one line, and alignments. A layout table is replaced by its
 * content.
 */
export function tidyTables() {
  return (tree: Root): void =>
    rewrite(tree, (node) => {
      if (!isElement(node) || node.tagName !== 'table') return [node];
      const rows = rowsOf(node).filter((row) => textOf(row).trim() !== '' || hasPicture(row));
      const cells = rows.flatMap(cellsOf);
      const blocks = cells.map(({ children }) => children.filter((child) => !isBlank(child)));
      const isCode = blocks.flat().every((child) => isElement(child) && child.tagName === 'pre');
      // Drop the cells with line numbers next to the code.
      if (isCode) return blocks.flat().filter((code) => /\D/.test(textOf(code).replace(/\s/g, '')));
      const isLayout = cells.length < 2 || cells.some((cell) => hasElement(cell, /^(?:table|h[1-6]|hr|ibid-callout)$/));
      if (isLayout)
        return cells.flatMap(({ children }) => (children.some(isBlock) ? children : [newElement('p', children)]));
      const captions = node.children.filter((child) => isElement(child) && child.tagName === 'caption') as Element[];
      for (const [r, row] of rows.entries()) for (const cell of cellsOf(row)) tidyCell(cell, r === 0);
      return [...captions.map(({ children }) => newElement('p', children)), newElement('table', rows)];
    });
}

function rowsOf(table: Element): Element[] {
  return table.children.flatMap((node): Element[] => {
    if (!isElement(node)) return [];
    return node.tagName === 'tr' ? [node] : /^t(?:head|body|foot)$/.test(node.tagName) ? rowsOf(node) : [];
  });
}

const cellsOf = (row: Element) =>
  row.children.filter((node): node is Element => isElement(node) && /^t[dh]$/.test(node.tagName));

function hasElement(parent: Element, names: RegExp): boolean {
  return parent.children.some((node) => isElement(node) && (names.test(node.tagName) || hasElement(node, names)));
}

const hasPicture = (row: Element) => hasElement(row, /^(?:img|input)$/);

function tidyCell(cell: Element, isHead: boolean): void {
  // LibreOffice aligns the paragraph of a cell.
  const inner = cell.children.filter(isElement).map(({ properties }) => properties.align);
  const align = String(
    cell.properties.align ?? (inner.length === 1 ? inner[0] : undefined) ?? styleOf(cell, 'text-align'),
  );
  const isBold = /^(?:bold|[6-9]00)/.test(styleOf(cell, 'font-weight'));
  cell.tagName = isHead ? 'th' : 'td';
  const { colSpan, rowSpan } = cell.properties;
  cell.properties = {
    ...(/^(?:right|center)$/.test(align) && { align }),
    ...(colSpan !== undefined && { colSpan }),
    ...(rowSpan !== undefined && { rowSpan }),
  };
  const lines: HtmlNode[][] = [[]];
  collectLines(cell, lines);
  const kept = lines.filter((line) => !line.every(isBlank));
  cell.children = kept.flatMap((line, i) => (i === 0 ? line : [newElement('br'), ...line])) as Element['children'];
  if (isHead) unwrap(cell, 'strong');
  else if (isBold && textOf(cell).trim() !== '') cell.children = [newElement('strong', cell.children)];
}

/**
 * Collects the lines of a cell, because a Markdown cell has no blocks. List items get their number or bullet as text.
 */
function collectLines(node: Element, lines: HtmlNode[][]): void {
  let number = Number(node.properties.start) || 1;
  for (const child of node.children) {
    if (isElement(child) && child.tagName === 'br') lines.push([]);
    else if (isElement(child) && child.tagName === 'pre')
      lines.push([newElement('code', [newText(textOf(child).trim())])], []);
    else if (isBlock(child) && !PARTS.test(child.tagName)) {
      lines.push([]);
      if (child.tagName === 'li') lines.at(-1)?.push(newText(node.tagName === 'ol' ? `${number++}. ` : '• '));
      collectLines(child, lines);
      lines.push([]);
    } else lines.at(-1)?.push(child);
  }
}
