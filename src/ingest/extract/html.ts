import type { Element, Nodes, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import rehypeRemark from 'rehype-remark';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';

const parser = unified().use(rehypeParse).freeze();
const writer = unified()
  .use(rehypeRemark)
  .use(remarkGfm)
  .use(remarkStringify, { bullet: '-', emphasis: '*', fences: true, rule: '-' })
  .freeze();

/** What is no part of the text that somebody would read. */
const CHROME = new Set(
  'script style template noscript iframe object embed applet svg math canvas form input button select textarea nav link meta base'.split(
    ' ',
  ),
);

/** A document's text as Markdown: of <main> or the only <article> where there is one, else of all of <body>. */
export function htmlToMarkdown(html: string): { markdown: string; title: string; language: string } {
  const tree = parser.parse(html) as Root;
  const title = textOf(findFirst(tree, 'title')).replace(/\s+/g, ' ').trim().slice(0, 255);
  const language = findFirst(tree, 'html')?.properties.lang;
  const articles = findAll(tree, 'article');
  const content =
    findFirst(tree, 'main') ?? (articles.length === 1 ? articles[0] : undefined) ?? findFirst(tree, 'body');
  const root: Root = { type: 'root', children: content ? content.children : [] };
  prune(root);
  return {
    markdown: writer.stringify(writer.runSync(root) as never),
    title,
    language: typeof language === 'string' ? language.slice(0, 35) : '',
  };
}

function prune(node: Root | Element): void {
  node.children = node.children.filter((child) => {
    if (child.type === 'comment') return false;
    if (child.type !== 'element') return true;
    if (CHROME.has(child.tagName) || child.properties.hidden !== undefined) return false;
    if (child.tagName === 'img' && /^\s*(data|javascript):/i.test(String(child.properties.src ?? ''))) return false;
    if (child.tagName === 'a' && /^\s*(data|javascript|vbscript):/i.test(String(child.properties.href ?? ''))) {
      delete child.properties.href;
    }
    prune(child);
    return true;
  }) as typeof node.children;
}

function findFirst(node: Nodes, name: string): Element | undefined {
  if (node.type === 'element' && node.tagName === name) return node;
  if (!('children' in node)) return undefined;
  for (const child of node.children) {
    const found = findFirst(child, name);
    if (found) return found;
  }
  return undefined;
}

function findAll(node: Nodes, name: string): Element[] {
  const own = node.type === 'element' && node.tagName === name ? [node] : [];
  return 'children' in node ? [...own, ...node.children.flatMap((child) => findAll(child, name))] : own;
}

function textOf(node: Nodes | undefined): string {
  if (!node) return '';
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
}
