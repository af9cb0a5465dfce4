import { posix } from 'node:path';
import { catchOverflow, TooComplexError } from '@ibid/markdown/parse-markdown.ts';
import { lineEndsIn } from '@ibid/markdown/plain-text.ts';
import type { Element, Nodes, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { addRun, type LineRun } from '../../source-lines.ts';
import { decodeHtml } from '../decode.ts';
import { collectPictures } from '../document-pictures.ts';
import { ExtractError } from '../extract-error.ts';
import type { ExtractedDocument } from '../extracted.ts';
import { openHtmlParts } from '../html/html.ts';
import { findReferences, type PartText } from '../html/references.ts';
import { asHtml } from '../html/xhtml.ts';
import { lossList } from '../loss-list.ts';
import type { Loss } from '../losses.ts';
import type { ZipEntry } from '../zip/zip.ts';

/** The size limit of one file in a book; chapters are rarely longer than a tenth of it. */
const CHAPTER_MAX = 8 * 2 ** 20;
const CHAPTERS_MAX = 2_000;

const parser = unified().use(rehypeParse, { fragment: true }).freeze();

/**
 * Reads an EPUB book: its chapters in spine order, with the links and notes between them, title, language and pictures.
 * Chapters that cannot be read are listed as losses. Throws an ExtractError if the book is damaged or copy-protected.
 */
export function readEpub(entries: readonly ZipEntry[]): ExtractedDocument {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  if (byName.has('META-INF/rights.xml')) {
    throw new ExtractError('unreadable', 'the book is copy-protected; upload an unprotected copy');
  }
  const read = (name: string) => byName.get(name)?.read(CHAPTER_MAX);
  const container = parseXml(readable(() => read('META-INF/container.xml')));
  const packagePath = attribute(elementsOf(container, 'rootfile')[0], 'full-path', 'fullPath');
  const book = parseXml(readable(() => read(packagePath)));
  const chapters = spineOf(book, packagePath);
  const losses: Loss[] = [];
  const { markdown, lines, pictures, file_characters } = readChapters(chapters, read, losses);
  if (markdown === undefined) {
    throw new ExtractError(
      'unreadable',
      'the book is damaged and cannot be read; save it again as EPUB and upload it again',
    );
  }
  const title = wordsOf(elementsOf(book, 'dc:title')[0]).replace(/\s+/g, ' ').trim().slice(0, 255);
  const language =
    /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.exec(wordsOf(elementsOf(book, 'dc:language')[0]).trim())?.[0] ?? '';
  return {
    kind: 'epub',
    markdown,
    lines,
    title,
    language: language.slice(0, 35),
    content_type: 'application/epub+zip',
    pictures,
    losses,
    file_characters,
  };
}

interface Chapter {
  name: string;
  isPicture: boolean;
}

/** Lists the files of the spine in reading order. */
function spineOf(book: Root, packagePath: string): Chapter[] {
  const items = new Map(elementsOf(book, 'item').map((item) => [attribute(item, 'id'), item]));
  const spine = elementsOf(book, 'itemref').map((item) => items.get(attribute(item, 'idref')));
  const chapters = spine.flatMap((item): [name: string, chapter: Chapter][] => {
    const href = attribute(item, 'href');
    const type = attribute(item, 'media-type', 'mediaType');
    const name = resolveAddress(packagePath, href);
    return href === '' ? [] : [[name, { name, isPicture: /^image\//.test(type) }]];
  });
  // The standard allows each file once in a spine; damaged books repeat files a thousand times.
  return [...new Map(chapters).values()];
}

type Read = (name: string) => Buffer | undefined;

/** Converts the chapters to Markdown; undefined if no chapter can be read. Adds unreadable chapters to the losses. */
function readChapters(spine: readonly Chapter[], read: Read, losses: Loss[]) {
  const chapters = spine.slice(0, CHAPTERS_MAX);
  if (spine.length > CHAPTERS_MAX)
    lossList('the end of the book', losses).sum('cut_text', '', spine.length - CHAPTERS_MAX);
  const htmlOf = (name: string) => {
    const bytes = read(name);
    return bytes && asHtml(decodeHtml(bytes, ''));
  };
  const { pictures, add } = collectPictures();
  const pictureAt = (address: string, path: string) => {
    const picture = readable(() => read(resolveAddress(path, address)));
    return picture ? add(picture) : '';
  };
  const texts = chapters.filter(({ isPicture }) => !isPicture).map(({ name }) => name);
  const references = findReferences(textsOf(texts, htmlOf));
  const { read: readPart, finish } = openHtmlParts(references, { pictureAt, addPicture: add });
  const parts: string[] = [];
  const lines: LineRun[] = [];
  let at = 1;
  let file_characters = 0;
  let count = 0;
  for (const [i, { name, isPicture }] of chapters.entries()) {
    const list = lossList(name, losses);
    const html = isPicture ? `<img src="${encodeURIComponent(posix.basename(name))}">` : readable(() => htmlOf(name));
    if (html === undefined) {
      list.sum('damaged_part', '');
      continue;
    }
    count += 1;
    try {
      const part = readPart({ path: name, html }, list);
      const text = part.markdown.trim();
      if (text !== '') {
        parts.push(text);
        // All lines of this part come from this chapter.
        addRun(lines, { at, line: i + 1, height: 0 });
        at += lineEndsIn(text) + 2;
      }
      file_characters += part.file_characters;
    } catch (error) {
      if (!(error instanceof TooComplexError)) throw error;
      list.sum('damaged_part', html.replace(/<[^<>]*>/g, ' '));
    }
  }
  const markdown = count === 0 ? undefined : `${finish(parts.join('\n\n'))}\n`;
  return { markdown, lines, pictures, file_characters };
}

function* textsOf(names: readonly string[], htmlOf: (name: string) => string | undefined): Generator<PartText> {
  for (const path of names) {
    const html = readable(() => htmlOf(path));
    if (html !== undefined) yield { path, html };
  }
}

/** Returns undefined if a file is damaged, so that the rest of the book can be read. Throws if a file is too large. */
function readable<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ExtractError && error.code !== 'too_large') return undefined;
    throw error;
  }
}

/** Resolves an address in a file of the book to an entry name, which may not exist. */
function resolveAddress(from: string, address: string): string {
  const [path = ''] = address.split(/[?#]/, 1);
  try {
    return posix.join(posix.dirname(from), decodeURIComponent(path));
  } catch {
    // Keep an invalid percent-encoding as text.
    return posix.join(posix.dirname(from), path);
  }
}

/**
 * Parses XML of the package with the HTML parser. Empty elements get end tags first; otherwise each would contain the
 * next.
 */
function parseXml(xml: Buffer | undefined): Root {
  const text = asHtml((xml && readable(() => decodeHtml(xml, ''))) ?? '');
  try {
    return catchOverflow(() => parser.parse(text));
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error;
    // XML nested this deep has no readable content.
    return parser.parse('');
  }
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
