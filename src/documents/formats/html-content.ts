import type { Element, Root } from 'hast';
import { TooComplexError } from '../../markdown/parse-markdown.ts';

/** Elements that are not part of the readable text. */
const CHROME = new Set(
  (
    'applet audio base button canvas dialog embed frame frameset iframe input link math meta nav noscript object option ' +
    'script select style svg template textarea video'
  ).split(' '),
);

/** Navigation, and parts that repeat on every page of a site, by role (WAI-ARIA landmarks). */
const CHROME_ROLES = new Set(['navigation', 'search', 'banner', 'contentinfo', 'menu', 'menubar', 'toolbar']);

/** Elements that cells of data tables do not contain. */
const BLOCKS = new Set('blockquote center div dl h1 h2 h3 h4 h5 h6 hr ol p pre table ul'.split(' '));

/** The limit of cells that colspan and rowspan expand to, per document. */
const MAX_SPANNED_CELLS = 100_000;

/** The content of a document: <main>, else its only <article>, else <body>. */
export function mainContent(document: Root): Root {
  const mains: Element[] = [];
  const articles: Element[] = [];
  let body: Element | undefined;
  visit(document, (element) => {
    if (element.tagName === 'main' || element.properties.role === 'main') mains.push(element);
    if (element.tagName === 'article') articles.push(element);
    if (element.tagName === 'body') body ??= element;
  });
  const only = [mains, articles].find((found) => found.length === 1)?.[0];
  const content = only && hasWords(only) ? only : body;
  return { type: 'root', children: content?.children ?? [] };
}

/**
 * Removes navigation and similar parts in place. Headers and footers are removed if they belong to the site and kept in
 * an article.
 */
export function removeChrome<T extends Root | Element>(content: T): T {
  content.children = (content.children as Element['children']).filter((child) => {
    if (child.type === 'comment') return false;
    if (child.type !== 'element') return true;
    if (isChrome(child, content.type === 'root')) return false;
    removeChrome(child);
    return true;
  });
  return content;
}

function isChrome({ tagName, properties, children }: Element, isOutermost: boolean): boolean {
  if (CHROME.has(tagName) || CHROME_ROLES.has(String(properties.role ?? ''))) return true;
  if (isOutermost && tagName === 'footer') return true;
  if (properties.hidden !== undefined || /display\s*:\s*none/i.test(String(properties.style ?? ''))) return true;
  // The symbol after a heading that links to it.
  const [only, ...more] = children;
  return tagName === 'a' && more.length === 0 && only?.type === 'text' && /^[¶#§]$/.test(only.value.trim());
}

/**
 * Word wraps every cell in a paragraph and rarely marks the head; in Markdown a cell is one line. Changes the tree in
 * place.
 */
export function unwrapCells(content: Root): void {
  const headed = new Set<Element>();
  visit(content, (cell) => {
    if (cell.tagName === 'table') ensureTableHead(cell, headed);
    if (cell.tagName !== 'td' && cell.tagName !== 'th') return;
    if (!cell.children.every((child) => child.type === 'element' && child.tagName === 'p')) return;
    cell.children = (cell.children as Element[]).flatMap((paragraph, i): Element['children'] =>
      i === 0 ? paragraph.children : [{ type: 'text', value: ' ' }, ...paragraph.children],
    );
  });
}

/** Makes the first row of a table the head if it has none. */
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

/** Replaces layout tables by plain blocks, innermost first, in place. */
export function unwrapLayout(content: Root): void {
  let spanned = 0;
  const tables: Element[] = [];
  visit(content, (element) => {
    if (element.tagName === 'table') tables.push(element);
    if (element.tagName !== 'td' && element.tagName !== 'th') return;
    const { colSpan, rowSpan } = element.properties;
    spanned += Math.max(Number(colSpan) || 1, 1) * Math.max(Number(rowSpan) || 1, 1) - 1;
  });
  if (spanned > MAX_SPANNED_CELLS) throw new TooComplexError(`cells spread over more than ${MAX_SPANNED_CELLS} others`);
  for (const table of tables.reverse()) if (isLayout(table)) asBlocks(table);
}

/** A data table has header cells, or rows of the same number (two or more) of cells with one line of text each. */
function isLayout(table: Element): boolean {
  let rows = 0;
  let headings = 0;
  let blocks = 0;
  let tables = 0;
  const widths = new Set<number>();
  visit(table, ({ tagName, children }) => {
    if (tagName === 'th' || tagName === 'caption') headings += 1;
    if (tagName === 'table') tables += 1;
    if (BLOCKS.has(tagName)) blocks += 1;
    if (tagName !== 'tr') return;
    rows += 1;
    widths.add(children.filter((cell) => cell.type === 'element').length);
  });
  if (tables > 0) return true;
  if (headings > 0) return false;
  return blocks > 0 || rows < 2 || widths.size > 1 || widths.has(1);
}

function asBlocks(table: Element): void {
  visit(table, (element) => {
    if (/^(?:tbody|thead|tfoot|tr|td|th|caption)$/.test(element.tagName)) element.tagName = 'div';
  });
  table.tagName = 'div';
}

function visit(node: Root | Element, each: (element: Element) => void): void {
  for (const child of node.children) {
    if (child.type !== 'element') continue;
    each(child);
    visit(child, each);
  }
}

function hasWords(node: Root | Element): boolean {
  return node.children.some((child) => {
    if (child.type === 'text') return child.value.trim() !== '';
    return child.type === 'element' && !CHROME.has(child.tagName) && hasWords(child);
  });
}
