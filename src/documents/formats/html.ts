import type { Element, Nodes, Root } from 'hast';
import type { Break, Root as Markdown, Nodes as MarkdownNodes, Paragraph, PhrasingContent } from 'mdast';
import rehypeParse from 'rehype-parse';
import rehypeRemark from 'rehype-remark';
import { unified } from 'unified';
import { assertDepth, catchOverflow } from '../../markdown/parse-markdown.ts';
import { oneLine, TITLE_MAX } from '../../markdown/plain-text.ts';
import { mainContent, removeChrome, unwrapCells, unwrapLayout } from './html-content.ts';
import { footnoteHandlers } from './html-footnotes.ts';
import { markdownWriter } from './markdown-writer.ts';

const parser = unified().use(rehypeParse).freeze();
const converter = unified().use(rehypeRemark).freeze();
const documentConverter = unified().use(rehypeRemark, { handlers: footnoteHandlers }).freeze();
const writer = markdownWriter({ tablePipeAlign: false });

const BREAK: Break = { type: 'break' };

/**
 * Converts HTML to Markdown: the content of <main>, else of its only <article>, else of <body>, without scripts, forms
 * and navigation. Title and language are the document's own, "" if missing. Throws a TooComplexError if it is nested
 * too deep. For converted documents (Word, EPUB) all tables are data, notes are footnotes, pictures have the addresses
 * of `pictureAt` ("" to omit one), and only links to the web are kept.
 */
export function htmlToMarkdown(
  html: string,
  pictureAt?: (address: string) => string,
): { markdown: string; title: string; language: string } {
  return catchOverflow(() => {
    const document = parser.parse(html);
    assertDepth(document);
    const title = wordsOf(findElement(document, 'title')) || wordsOf(findElement(document, 'h1'));
    const base = URL.parse(String(findElement(document, 'base')?.properties.href));
    const lang = findElement(document, 'html')?.properties.lang;
    const content = removeChrome(mainContent(document));
    if (pictureAt) unwrapCells(content);
    unwrapLayout(content);
    const tree: Markdown = (pictureAt ? documentConverter : converter).runSync(content);
    dropUnsafe(tree, base, pictureAt);
    splitAtBlankLines(tree);
    return {
      markdown: writer.stringify(tree),
      title: oneLine(title, TITLE_MAX),
      language: /^[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,6}$/i.exec(String(lang ?? ''))?.[0].slice(0, 35) ?? '',
    };
  });
}

/**
 * Resolves addresses against <base>. Links to other schemes than the web's are unwrapped, and pictures from elsewhere
 * (data URLs included) are dropped. Rendering is safe without this; such addresses are of no use.
 */
function dropUnsafe(node: MarkdownNodes, base: URL | null, pictureAt: ((address: string) => string) | undefined): void {
  if (!('children' in node)) return;
  const children = node.children as MarkdownNodes[];
  const kept = children.flatMap((child): MarkdownNodes[] => {
    dropUnsafe(child, base, pictureAt);
    if (child.type === 'html') return [];
    if (child.type !== 'image' && child.type !== 'link') return [child];
    if (pictureAt && child.type === 'image') child.url = pictureAt(child.url);
    else if (pictureAt && !/^[a-z][a-z0-9+.-]*:/i.test(child.url)) child.url = '';
    else child.url = webAddress(child.url, base);
    if (child.url !== '') return [child];
    return child.type === 'link' ? child.children : [];
  });
  node.children = kept as typeof node.children;
}

/** The address to write; "" if its scheme is not allowed in pages. */
function webAddress(url: string, base: URL | null): string {
  const address = url.replace(/[\t\n\r]+/g, '').trim();
  const scheme = /^[^/?#]*?:/.exec(address)?.[0].toLowerCase();
  if (scheme === undefined)
    return base && /^https?:$/.test(base.protocol) ? (URL.parse(address, base.href)?.href ?? '') : address;
  return /^(?:https?|mailto):$/.test(scheme) ? address : '';
}

/** HTML without <p> separates paragraphs by two or more line breaks. */
function splitAtBlankLines(node: MarkdownNodes): void {
  if (!('children' in node)) return;
  for (const child of node.children) splitAtBlankLines(child);
  const children = (node.children as MarkdownNodes[]).flatMap((child): MarkdownNodes[] =>
    child.type === 'paragraph' ? paragraphsOf(child) : [child],
  );
  node.children = children as typeof node.children;
}

function paragraphsOf({ children }: Paragraph): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let lines: PhrasingContent[] = [];
  for (const [i, child] of [...children, BREAK, BREAK].entries()) {
    if (child.type !== 'break') lines.push(child);
    else if (lines.length > 0 && (children[i + 1] ?? BREAK).type !== 'break') lines.push(child);
    else if (lines.length > 0) {
      paragraphs.push({ type: 'paragraph', children: lines });
      lines = [];
    }
  }
  return paragraphs;
}

function findElement(node: Root | Element, name: string): Element | undefined {
  for (const child of node.children) {
    if (child.type !== 'element') continue;
    const found = child.tagName === name ? child : findElement(child, name);
    if (found) return found;
  }
  return undefined;
}

function wordsOf(node: Nodes | undefined): string {
  if (node?.type === 'text') return node.value;
  return node && 'children' in node ? node.children.map(wordsOf).join('') : '';
}
