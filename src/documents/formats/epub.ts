import { posix } from 'node:path';
import type { Element, Nodes, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { decodeHtml } from './decode.ts';
import { collectPictures } from './document-pictures.ts';
import type { ExtractedDocument } from './extract.ts';
import { ExtractError } from './extract-error.ts';
import { htmlToMarkdown } from './html.ts';
import type { ZipEntry } from './zip.ts';

/** The size limit of one file in a book; a chapter is rarely longer than a tenth of it. */
const CHAPTER_MAX = 8 * 2 ** 20;
const CHAPTERS_MAX = 2_000;

const parser = unified().use(rehypeParse, { fragment: true }).freeze();

/**
 * Reads an EPUB book: its chapters in the order of the spine, its title and language, and its pictures. Throws an
 * ExtractError if it is damaged or protected.
 */
export function readEpub(entries: readonly ZipEntry[]): ExtractedDocument {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  if (byName.has('META-INF/rights.xml')) {
    throw new ExtractError('unreadable', 'the book is protected against copying; upload one that is not');
  }
  const read = (name: string) => byName.get(name)?.read(CHAPTER_MAX);
  const container = parseXml(read('META-INF/container.xml'));
  const packagePath = attribute(elementsOf(container, 'rootfile')[0], 'full-path', 'fullPath');
  const book = parseXml(read(packagePath));
  const items = new Map(elementsOf(book, 'item').map((item) => [attribute(item, 'id'), attribute(item, 'href')]));
  const spine = elementsOf(book, 'itemref').map((item) => items.get(attribute(item, 'idref')) ?? '');
  const { pictures, add } = collectPictures();
  const chapters: string[] = [];
  for (const href of spine.slice(0, CHAPTERS_MAX)) {
    const name = resolveAddress(packagePath, href);
    const chapter = read(name);
    if (!chapter) continue;
    const pictureAt = (address: string) => {
      const picture = read(resolveAddress(name, address));
      return picture ? add(picture) : '';
    };
    chapters.push(htmlToMarkdown(decodeHtml(chapter, ''), pictureAt).markdown.trim());
  }
  if (chapters.length === 0) {
    throw new ExtractError(
      'unreadable',
      'the book is damaged and cannot be read; save it again as EPUB and upload it again',
    );
  }
  const markdown = `${chapters.filter((chapter) => chapter !== '').join('\n\n')}\n`;
  const title = wordsOf(elementsOf(book, 'dc:title')[0]).replace(/\s+/g, ' ').trim().slice(0, 255);
  const language =
    /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.exec(wordsOf(elementsOf(book, 'dc:language')[0]).trim())?.[0] ?? '';
  return {
    kind: 'epub',
    markdown,
    title,
    language: language.slice(0, 35),
    content_type: 'application/epub+zip',
    pictures,
  };
}

/** Resolves an address in a file of the book; addresses outside the book do not resolve. */
function resolveAddress(from: string, address: string): string {
  const [path = ''] = address.split(/[?#]/, 1);
  try {
    return posix.join(posix.dirname(from), decodeURIComponent(path));
  } catch {
    // An invalid percent-encoding is kept as text.
    return posix.join(posix.dirname(from), path);
  }
}

/** XHTML parses as HTML except for self-closing elements; their unintended children are searched too. */
function parseXml(xml: Buffer | undefined): Root {
  return parser.parse(xml ? decodeHtml(xml, '') : '');
}

function elementsOf(tree: Root, name: string): Element[] {
  const found: Element[] = [];
  const open: Nodes[] = [tree];
  for (let node = open.pop(); node; node = open.pop()) {
    if (!('children' in node)) continue;
    if (node.type === 'element' && node.tagName === name) found.push(node);
    open.push(...[...node.children].reverse());
  }
  return found;
}

function attribute(element: Element | undefined, ...names: string[]): string {
  const name = names.find((each) => element?.properties[each] !== undefined);
  return name === undefined ? '' : String(element?.properties[name]);
}

function wordsOf(element: Element | undefined): string {
  const [text] = element?.children ?? [];
  return text?.type === 'text' ? text.value : '';
}
