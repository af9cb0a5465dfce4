import { lineOf, visit } from '@ibid/markdown/parse-markdown.ts';
import { relativeAddress } from '@ibid/markdown/wiki-links.ts';
import type { Link, Nodes, PhrasingContent, Root, Text } from 'mdast';
import type { Edit } from './edit-text.ts';
import { mentionsIn, type TitleNames } from './title-names.ts';

/** The maximum number of links added to a document; each is a row. */
const LINKS_MAX = 500;

/** HTML that our document readers write: it opens no block and no link. */
const WRITTEN_HTML = /^(?:<br ?\/?>|<\/?(?:sub|sup|u)>|<a id="[^"<>]*">|<\/a>)$/;

/** Nodes whose words are not text of the page, or are in a link already. */
const SKIPPED_NODES = new Set(['heading', 'link', 'linkReference']);

/**
 * Links the first mention of the title of each other page, in paragraphs, list items and table cells. `tree` is the
 * parsed `markdown` and gets the links; their places are set when the edits are applied. `linked`: paths that are not
 * linked, because the document already links to them or is their page. `room`: the number of bytes by which the
 * document may grow.
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
    if (!('children' in node) || SKIPPED_NODES.has(node.type)) return;
    let isInAnchor = false;
    const children = (node.children as Nodes[]).flatMap((child): Nodes[] => {
      if (child.type === 'html' && /^<\/?a\b/.test(child.value)) isInAnchor = child.value !== '</a>';
      if (isInAnchor) return [child];
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
      if (first === undefined || last === undefined || !canInsertLink(markdown, first, last)) continue;
      if (isBlank(node.value.slice(from, start)) || isBlank(node.value.slice(end))) continue;
      const url = relativeAddress(page_path, path);
      left -= url.length + '[]()'.length;
      if (left < 0) break;
      const words: Text = { type: 'text', value: node.value.slice(start, end) };
      const link: Link = { type: 'link', url, children: [words], position: lineOfPlace(markdown, node, first) };
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
    isConverted &&= node.type !== 'definition' && (node.type !== 'html' || WRITTEN_HTML.test(node.value));
  });
  // An open tag may put a link around all following text, and a definition may continue; converted text has neither.
  if (isConverted) readBlock(tree);
  return { edits, paths: [...paths] };
}

/**
 * Tells whether a text is only white space with a special space (such as a non-breaking one). Such spaces are tokenized
 * with adjacent words and are not text alone.
 */
function isBlank(text: string): boolean {
  return text.trim() === '' && /[^ \t\n\f\r]/.test(text);
}

const REFERENCE = /&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]{1,31});/iy;

/**
 * Maps each character of a text to its offset in the Markdown, which also has escapes, character references, and
 * markers of quotes and lists at the beginning of lines. Returns [] if they cannot be matched.
 */
function placesIn(markdown: string, { value, position }: Text): readonly number[] {
  let at = position?.start.offset ?? -1;
  if (at < 0) return [];
  const places: number[] = [];
  for (const character of value.split('')) {
    places.push(at);
    const written = markdown.charAt(at);
    if (character === '\n') {
      // Trailing spaces are not part of the text, nor are markers and spaces at the beginning of the next line.
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
 * Tells whether a link can be inserted without changing the meaning of the text around it. Whether an emphasis
 * delimiter is active depends on the characters on both of its sides, and the link's bracket would be on one side. So
 * the other side must be a space, or the delimiters must enclose only the link.
 */
function canInsertLink(markdown: string, start: number, end: number): boolean {
  const opening = marks(markdown, start, -1);
  const closing = marks(markdown, end, 1);
  const before = markdown.charAt(start - opening.length - 1);
  const after = markdown.charAt(end + closing.length);
  // These characters would change the meaning of the brackets, or of a dollar sign next to a word.
  if ((opening === '' && /[!\\[\]^$]/.test(before)) || (closing === '' && after === '$')) return false;
  if (opening !== '' && !/^\s?$/.test(before)) return false;
  return closing === '' || /^\s?$/.test(after) || (opening === closing && /^[.,;:!?)'"’”]$/.test(after));
}

/** Returns the run of equal emphasis delimiters at an offset. */
function marks(markdown: string, from: number, step: 1 | -1): string {
  const first = step < 0 ? from - 1 : from;
  const mark = /[*_~]/.exec(markdown.charAt(first))?.[0];
  let length = 0;
  while (mark !== undefined && markdown.charAt(first + step * length) === mark) length += 1;
  return mark?.repeat(length) ?? '';
}

/** Returns the line of an offset as a position, for a new link that the parsed text does not contain. */
function lineOfPlace(markdown: string, node: Text, place: number): NonNullable<Link['position']> {
  const from = node.position?.start.offset ?? place;
  const line = lineOf(node) + markdown.slice(from, place).split('\n').length - 1;
  return { start: { line, column: 1 }, end: { line, column: 1 } };
}
