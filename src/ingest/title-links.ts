import type { Link, Nodes, Parents, PhrasingContent, Root, Text } from 'mdast';
import { relativeAddress } from '../pages/wiki-links.ts';
import type { Edit } from './edit-text.ts';
import { mentionsIn, type TitleNames } from './title-names.ts';

/** A list of all documents of a company names so many; each is a row. */
const LINKS_MAX = 500;

/** What has words that are no text of the page, or link already. */
const CLOSED = new Set(['heading', 'link', 'linkReference', 'definition']);

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
    // HTML between words may be a link around them.
    if (node.children.some((child) => child.type === 'html') && isPhrasing(node)) return;
    const children = (node.children as Nodes[]).flatMap((child): Nodes[] => {
      if (child.type === 'text') return linkText(child);
      readBlock(child);
      return [child];
    });
    node.children = children as Parents['children'] & [];
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

  readBlock(tree);
  return { edits, paths: [...paths] };
}

function isPhrasing(node: Nodes): boolean {
  return /^(?:paragraph|tableCell|emphasis|strong|delete)$/.test(node.type);
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
    if (character === '\n') {
      // Spaces at the end of a line are no part of the text, nor are marks and spaces at the beginning of the next one.
      at = skipped(/[ \t]*/y, at);
      if (markdown.charAt(at) !== '\n') return [];
      at = skipped(/[ \t>]*/y, at + 1);
    } else if (
      markdown.charAt(at) === '\\' &&
      markdown.charAt(at + 1) === character &&
      /[!-/:-@[-`{-~]/.test(character)
    ) {
      at += 2;
    } else if (markdown.charAt(at) === character && character !== '&') {
      at += 1;
    } else {
      const behind = skipped(REFERENCE, at);
      if (behind === at && character !== '&') return [];
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

/** Whether a link can stand there and everything around it means what it meant. */
function standsFree(markdown: string, start: number, end: number): boolean {
  return (
    !/[!\\[\]^]/.test(markdown.charAt(start - 1)) && isParted(markdown, start - 1, -1) && isParted(markdown, end, 1)
  );
}

/** Marks of emphasis beside a link are marks only where no word is on their other side. */
function isParted(markdown: string, from: number, step: 1 | -1): boolean {
  let at = from;
  while (/[*_~]/.test(markdown.charAt(at))) at += step;
  return at === from || !/[^\s\p{P}\p{S}]/u.test(markdown.charAt(at));
}
