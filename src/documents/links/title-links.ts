import type { Link, Nodes, PhrasingContent, Root, Text } from 'mdast';
import { visit } from '../../markdown/parse-markdown.ts';
import { relativeAddress } from '../../markdown/wiki-links.ts';
import type { Edit } from './edit-text.ts';
import { mentionsIn, type TitleNames } from './title-names.ts';

/** A list of all documents of a company names so many; each is a row. */
const LINKS_MAX = 500;

/** What has words that are no text of the page, or link already. */
const CLOSED = new Set(['heading', 'link', 'linkReference']);

/**
 * Links the first place where the text of a document names the title of each other page: in paragraphs, items of lists and
 * cells of tables. `tree` is `markdown` parsed and gets the links, their places when the edits are made. `linked` are the
 * paths that are not linked: what it links to by itself, and the document itself. `room` is by how many bytes it may grow.
 */
export function linkTitles(
  markdown: string,
  tree: Root,
  { page_path, linked, room }: { page_path: string; linked: Iterable<string>; room: number },
  names: TitleNames,
): { edits: Edit[]; paths: string[] } {
  const edits: Edit[] = [];
  const paths = new Set<string>();
  const done = new Set(linked);
  let left = room;

  function readBlock(node: Nodes): void {
    if (!('children' in node) || CLOSED.has(node.type)) return;
    const children = (node.children as Nodes[]).flatMap((child): Nodes[] => {
      if (child.type === 'text') return linkText(child);
      readBlock(child);
      return [child];
    });
    node.children = children as typeof node.children;
  }

  function linkText(node: Text): PhrasingContent[] {
    const mentions = mentionsIn(node.value, names);
    const placeOf = mentions.length > 0 ? placesIn(markdown, node) : [];
    const pieces: PhrasingContent[] = [];
    let from = 0;
    for (const { start, end, path } of mentions) {
      if (path === '' || done.has(path) || edits.length >= LINKS_MAX) continue;
      const [first, last] = [placeOf[start], placeOf[end]];
      if (first === undefined || last === undefined || !standsFree(markdown, first, last)) continue;
      if (isLost(node.value.slice(from, start)) || isLost(node.value.slice(end))) continue;
      const url = relativeAddress(page_path, path);
      left -= url.length + '[]()'.length;
      if (left < 0) break;
      const words: Text = { type: 'text', value: node.value.slice(start, end) };
      const link: Link = { type: 'link', url, children: [words] };
      if (start > from) pieces.push({ type: 'text', value: node.value.slice(from, start) });
      pieces.push(link);
      from = end;
      edits.push({ start: first, end: last, text: `[${markdown.slice(first, last)}](${url})`, link });
      done.add(path);
      paths.add(path);
    }
    if (from === 0) return [node];
    if (from < node.value.length) pieces.push({ type: 'text', value: node.value.slice(from) });
    return pieces;
  }

  let isConverted = true;
  visit(tree, (node) => {
    isConverted &&= node.type !== 'html' && node.type !== 'definition';
  });
  // An open tag may be a link around all that follows, and a definition reads on where it can: no converted text has them.
  if (isConverted) readBlock(tree);
  return { edits, paths: [...paths] };
}

/** Spaces that do not break are read with the words beside them, and by themselves are no text. */
function isLost(text: string): boolean {
  return text.trim() === '' && /[^ \t\n\f\r]/.test(text);
}

const REFERENCE = /&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31});/iy;

/**
 * Where each character of a text stands in the Markdown, which has escapes and references to characters that the text has
 * not, and marks of quotes and lists at the beginning of its lines. Empty where it cannot be told.
 */
function placesIn(markdown: string, { value, position }: Text): readonly number[] {
  let at = position?.start.offset ?? -1;
  if (at < 0) return [];
  const places: number[] = [];
  for (const character of value.split('')) {
    places.push(at);
    const written = markdown.charAt(at);
    if (character === '\n') {
      // Spaces at the end of a line are no part of the text, nor are marks and spaces at the beginning of the next one.
      at = skipped(/[ \t]*/y, at);
      if (markdown.charAt(at) !== '\n') return [];
      at = skipped(/[ \t>]*/y, at + 1);
    } else if (written === '\\' && markdown.charAt(at + 1) === character && /[!-/:-@[-`{-~]/.test(character)) {
      at += 2;
    } else {
      const behind = written === '&' ? skipped(REFERENCE, at) : at;
      if (behind === at && written !== character) return [];
      at = Math.max(behind, at + 1);
    }
  }
  places.push(at);
  return at === position?.end.offset ? places : [];

  function skipped(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.test(markdown) ? pattern.lastIndex : from;
  }
}

/**
 * Whether a link can stand there and everything around it means what it meant. Whether a mark of emphasis is one depends on
 * the characters on its sides, and one of these would be a bracket: so on the other side there is a space, or the marks are
 * around the link alone.
 */
function standsFree(markdown: string, start: number, end: number): boolean {
  const opening = marks(markdown, start, -1);
  const closing = marks(markdown, end, 1);
  const before = markdown.charAt(start - opening.length - 1);
  const after = markdown.charAt(end + closing.length);
  // These would make another thing of the brackets, or of a dollar sign what it was not beside a word.
  if ((opening === '' && /[!\\[\]^$]/.test(before)) || (closing === '' && after === '$')) return false;
  if (opening !== '' && !/^\s?$/.test(before)) return false;
  return closing === '' || /^\s?$/.test(after) || (opening === closing && /^[.,;:!?)'"’”]$/.test(after));
}

/** The marks of emphasis beside a place that are alike. */
function marks(markdown: string, from: number, step: 1 | -1): string {
  const first = step < 0 ? from - 1 : from;
  const mark = /[*_~]/.exec(markdown.charAt(first))?.[0];
  let length = 0;
  while (mark !== undefined && markdown.charAt(first + step * length) === mark) length += 1;
  return mark?.repeat(length) ?? '';
}
