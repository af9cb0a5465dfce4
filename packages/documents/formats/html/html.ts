import { assertDepth, catchOverflow } from '@ibid/markdown/parse-markdown.ts';
import { oneLine, TITLE_MAX } from '@ibid/markdown/plain-text.ts';
import { withEndTags } from '@ibid/markdown/raw-html/empty-elements.ts';
import type { Root } from 'hast';
import { toMdast } from 'hast-util-to-mdast';
import type {
  Break,
  Nodes as MarkdownNodes,
  Root as MarkdownRoot,
  Paragraph,
  PhrasingContent,
  RootContent,
} from 'mdast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { pictureInAddress } from '../data-pictures.ts';
import { type LossList, lossList } from '../loss-list.ts';
import type { Loss } from '../losses.ts';
import { markdownWriter } from '../markdown-writer.ts';
import { dropPositions, findElement, moveBreaksOut, separateBlocksInHeadings, textOf } from './elements.ts';
import { readGoogleDocs } from './google-docs.ts';
import { finishMarkup, pageHandlers } from './handlers.ts';
import { countText, dropRepeatedAlternatives, mainContent, removeChrome } from './html-content.ts';
import { markReferences, openTargets } from './link-targets.ts';
import { prepareLists } from './lists.ts';
import { convertMathematics } from './mathematics.ts';
import { findReferences, type References } from './references.ts';
import { bracketReadings, raiseScripts } from './scripts.ts';
import { prepareTables } from './tables.ts';
import { markTasks } from './tasks.ts';
import { openWrappedBlocks } from './wrapped-blocks.ts';

const parser = unified().use(rehypeParse).freeze();
const writer = markdownWriter({ tablePipeAlign: false });

const BREAK: Break = { type: 'break' };

export interface HtmlPart {
  markdown: string;
  /** The declared title and language, "" if missing. */
  title: string;
  language: string;
  /** The characters of the text nodes, without white space and numbers of notes. */
  file_characters: number;
}

/** Returns the address of a picture in Markdown, "" to omit it. */
type PictureAt = (address: string, path: string) => string;

export interface HtmlOptions {
  /**
   * For converted documents (Word, EPUB): returns the addresses of their pictures. With it, only links to the web and
   * within the document are kept.
   */
  pictureAt?: PictureAt;
  /** Stores a picture from a `data:` address and returns its new address, "" to omit it. */
  addPicture?: (bytes: Buffer) => string;
  /** Whether tables hold data rather than layout; by default true for converted documents. */
  isData?: boolean;
}

/**
 * Converts HTML to Markdown: the content of its only <main>, else of <body>. Scripts, forms and navigation are listed
 * as losses. Throws a TooComplexError if it is nested too deep.
 */
export function htmlToMarkdown(html: string, options: HtmlOptions = {}): HtmlPart & { losses: Loss[] } {
  const losses = lossList();
  const parts = openHtmlParts(findReferences([{ path: '', html }]), options);
  const part = parts.read({ path: '', html }, losses);
  return { ...part, markdown: parts.finish(part.markdown), losses: losses.losses };
}

/**
 * Converts the parts of one document in order. `finish` resolves the links between parts after all of them are read.
 */
export function openHtmlParts(references: References, options: HtmlOptions) {
  const { pictureAt, addPicture, isData = pictureAt !== undefined } = options;
  const { place, resolve } = openTargets();
  return {
    read({ path, html }: { path: string; html: string }, losses: LossList): HtmlPart {
      return catchOverflow(() => {
        const document = parser.parse(withEndTags(html));
        assertDepth(document);
        readGoogleDocs(document);
        const written = textOf(findElement(document, 'title')) || textOf(findElement(document, 'h1'));
        const title = withoutSpace(html, written);
        const base = URL.parse(String(findElement(document, 'base')?.properties.href));
        const lang = findElement(document, 'html')?.properties.lang;
        const file_characters = countText(findElement(document, 'body') ?? document);
        const { tree, marks } = treeOf(document, path, references, isData, losses);
        const pictures = { pictureAt: pictureAt && ((address: string) => pictureAt(address, path)), addPicture };
        rewriteAddresses(tree, base, pictures, losses);
        splitParagraphs(tree);
        place(tree);
        return {
          markdown: writer.stringify(tree),
          title: oneLine(title, TITLE_MAX),
          language: /^[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,6}$/i.exec(String(lang ?? ''))?.[0].slice(0, 35) ?? '',
          file_characters: file_characters - marks,
        };
      });
    },
    finish: resolve,
  };
}

/**
 * Removes the name of the space from the title of a page that Confluence exported as HTML; returns other titles
 * unchanged.
 */
export function withoutSpace(html: string, title: string): string {
  return /\sid="(?:breadcrumb-section|title-heading)"/.test(html)
    ? title.replace(/^\s*\S[^\n]{0,200}?\s:\s+(?=\S)/, '')
    : title;
}

function treeOf(document: Root, path: string, references: References, isData: boolean, losses: LossList) {
  const content = mainContent(document, losses);
  dropPositions(content);
  convertMathematics(content, losses);
  const marks = markReferences(content, path, references);
  markTasks(content);
  removeChrome(content, losses);
  raiseScripts(content);
  bracketReadings(content);
  separateBlocksInHeadings(content);
  openWrappedBlocks(content);
  moveBreaksOut(content);
  dropRepeatedAlternatives(content);
  prepareLists(content);
  prepareTables(content, isData);
  const tree = toMdast(content, { document: true, handlers: pageHandlers }) as MarkdownRoot;
  finishMarkup(tree);
  return { tree, marks };
}

/**
 * Resolves addresses against <base>. Unwraps links with schemes that pages do not allow, and replaces external pictures
 * of converted documents by their alternative texts. Rendering is safe without this; such addresses are of no use.
 */
function rewriteAddresses(
  node: MarkdownNodes,
  base: URL | null,
  pictures: { pictureAt: ((address: string) => string) | undefined; addPicture: HtmlOptions['addPicture'] },
  losses: LossList,
): void {
  if (!('children' in node)) return;
  const { pictureAt, addPicture } = pictures;
  const children = node.children as MarkdownNodes[];
  const kept = children.flatMap((child): MarkdownNodes[] => {
    rewriteAddresses(child, base, pictures, losses);
    if (child.type !== 'image' && child.type !== 'link') return [child];
    if (child.type === 'link' && child.children.length === 0) return [];
    if (child.url.startsWith('#target-')) return [child];
    const picture = child.type === 'image' && addPicture ? pictureInAddress(child.url) : undefined;
    if (picture) child.url = addPicture?.(picture) ?? '';
    else if (pictureAt && child.type === 'image') child.url = pictureAt(child.url);
    else if (pictureAt && !/^[a-z][a-z0-9+.-]*:/i.test(child.url)) child.url = '';
    else child.url = webAddress(child.url, base);
    if (child.url !== '') return [child];
    if (child.type === 'link') return child.children;
    losses.addThing('picture', child.alt ?? '');
    return child.alt ? [{ type: 'text', value: child.alt }] : [];
  });
  node.children = kept as typeof node.children;
}

/** Returns the address to write; "" if pages do not allow its scheme. */
function webAddress(url: string, base: URL | null): string {
  const address = url.replace(/[\t\n\r]+/g, '').trim();
  // Only a script would handle this link.
  if (address === '#') return '';
  const scheme = /^[^/?#]*?:/.exec(address)?.[0].toLowerCase();
  if (scheme === undefined)
    return base && /^https?:$/.test(base.protocol) ? (URL.parse(address, base.href)?.href ?? '') : address;
  return /^(?:https?|mailto):$/.test(scheme) ? address : '';
}

/** Splits paragraphs at two or more line breaks, as in HTML without <p>; displayed formulas become blocks. */
function splitParagraphs(node: MarkdownNodes): void {
  if (!('children' in node)) return;
  for (const child of node.children) splitParagraphs(child);
  const children = (node.children as MarkdownNodes[]).flatMap((child): MarkdownNodes[] => {
    if (child.type === 'paragraph') return blocksOf(child);
    if (child.type === 'inlineMath' && node.type !== 'paragraph') child.display = false;
    return [child];
  });
  node.children = children as typeof node.children;
}

function blocksOf({ children }: Paragraph): RootContent[] {
  const blocks: RootContent[] = [];
  let lines: PhrasingContent[] = [];
  const endParagraph = () => {
    const [first, last] = [lines[0], lines.at(-1)];
    if (first?.type === 'text') first.value = first.value.trimStart();
    if (last?.type === 'text') last.value = last.value.trimEnd();
    if (lines.some((line) => line.type !== 'text' || line.value !== ''))
      blocks.push({ type: 'paragraph', children: lines });
    lines = [];
  };
  for (const [i, child] of [...children, BREAK, BREAK].entries()) {
    if (child.type === 'inlineMath' && child.display) {
      if (lines.at(-1)?.type === 'break') lines.pop();
      endParagraph();
      blocks.push({ type: 'math', value: child.value });
    } else if (child.type !== 'break') lines.push(child);
    else if (lines.length > 0 && (children[i + 1] ?? BREAK).type !== 'break') lines.push(child);
    else if (lines.length > 0) endParagraph();
  }
  return blocks;
}
