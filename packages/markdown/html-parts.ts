import type { Element, Root } from 'hast';
import { raw } from 'hast-util-raw';
import { VFile } from 'vfile';
import { assertDepth } from './parse-markdown.ts';
import { lineEndsIn } from './plain-text.ts';
import { IN_MARKDOWN, withEndTags } from './raw-html/empty-elements.ts';

/** Consecutive blocks of a page. */
export interface Part {
  tree: Root;
  /**
   * Whether the part contains raw HTML, or did before it was parsed. Only parsing shows whether its tags are balanced.
   */
  isHtml: boolean;
}

type Child = Root['children'][number] | { type: 'raw'; value: string };

/** Exceeds any number of tags: the page is parsed as a whole. */
const WHOLE = Number.POSITIVE_INFINITY;

/** Separates parts that are parsed together. */
const SEPARATOR = 'x-part';

/** Positions are only kept if a file is given; its content does not matter. */
const EMPTY_FILE = new VFile();

/**
 * Parses the raw HTML in a tree as a browser would. Tags that would swallow the following text (<title>, <xmp>, …) are
 * shown as text, as GFM specifies. Throws a TooComplexError if the result is nested too deep.
 */
export function parseRawHtml(tree: Root): Root {
  const made = raw(tree, { tagfilter: true, file: EMPTY_FILE });
  const result: Root = made.type === 'root' ? made : { type: 'root', children: [made] as Root['children'] };
  assertDepth(result);
  return result;
}

/**
 * Parses only the parts that contain raw HTML, which is much faster than parsing the page. Returns undefined if HTML of
 * a part reaches into the next part: then only the whole page can be parsed.
 */
export function parseHtmlParts(parts: readonly Part[]): Part[] | undefined {
  const children: Root['children'] = [];
  for (const [i, { tree, isHtml }] of parts.entries()) {
    if (!isHtml) continue;
    // Parsers treat the beginning of a document specially, so every part except the first follows an element.
    if (i > 0) children.push(separator());
    children.push(...tree.children);
  }
  children.push(separator());
  const groups: Root[] = [{ type: 'root', children: [] }];
  for (const child of parseRawHtml({ type: 'root', children }).children) {
    if (isSeparator(child)) groups.push({ type: 'root', children: [] });
    else groups.at(-1)?.children.push(child);
  }
  if (!parts[0]?.isHtml) groups.shift();
  // The last group must be empty, unless content was moved there. If a separator was moved into an element, a group is
  // missing.
  if (groups.pop()?.children.length !== 0 || groups.length !== parts.filter(({ isHtml }) => isHtml).length)
    return undefined;
  const parsed = groups.values();
  return parts.map((part) => (part.isHtml ? { ...part, tree: parsed.next().value ?? part.tree } : part));
}

function separator(): Element {
  return { type: 'element', tagName: SEPARATOR, properties: {}, children: [] };
}

function isSeparator(child: Root['children'][number]): boolean {
  return child.type === 'element' && child.tagName === SEPARATOR && child.children.length === 0;
}

/**
 * Splits a page into parts that begin with a block of raw HTML and end where as many tags are closed as were opened.
 * Returns undefined if the page can only be parsed as a whole.
 */
export function partsOf({ children }: Root): Part[] | undefined {
  const parts: Part[] = [];
  let depth = 0;
  let isBehindHtml = false;
  for (const child of children) {
    const opened = tagsOpenedBy(child);
    const continues: boolean = depth > 0 || (isBehindHtml && child.type === 'text');
    const isHtml: boolean = opened !== undefined || continues;
    depth = Math.max(0, depth + (opened ?? 0));
    if (depth === WHOLE) return undefined;
    const last = parts.at(-1);
    // A line break after HTML is parsed with it, because an element that is left open would contain it.
    if (last && (isHtml ? continues : !last.isHtml)) last.tree.children.push(child);
    else parts.push({ tree: { type: 'root', children: [child] }, isHtml });
    isBehindHtml = isHtml && child.type !== 'text';
  }
  return parts;
}

/** Returns the number of tags that raw HTML leaves open, or WHOLE; undefined for nodes without raw HTML. */
function tagsOpenedBy(node: Child): number | undefined {
  if (node.type === 'raw') return openedBy(node.value);
  if (node.type !== 'element') return undefined;
  let sum: number | undefined;
  for (const child of node.children) {
    const opened = tagsOpenedBy(child);
    if (opened !== undefined) sum = (sum ?? 0) + opened;
  }
  return sum;
}

/**
 * Tells whether a tree contains raw HTML; most do not, and skip the HTML parser. Removes scripts and styles from it.
 */
export function hasRawHtml(node: Root | Element): boolean {
  let found = false;
  for (const child of node.children as Child[]) {
    if (child.type === 'raw') {
      child.value = withEndTags(removeScripts(child.value), IN_MARKDOWN);
      found = true;
    } else if (child.type === 'element' && hasRawHtml(child)) {
      found = true;
    }
  }
  return found;
}

const TAG = /<(\/?)([a-z][a-z0-9-]*)/gi;
/** If such a tag comes first, the parser treats all following content as part of a table. */
const NEEDS_TABLE = /<\/?(?:t[rdh]|tbody|thead|tfoot|caption|col|colgroup|template)[\s/>]/i;
const EMPTY = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

function openedBy(html: string): number {
  let opened = 0;
  for (const [, slash, name = ''] of html.matchAll(TAG)) {
    if (!EMPTY.has(name.toLowerCase())) opened += slash === '/' ? -1 : 1;
  }
  const isAlone = !NEEDS_TABLE.test(html) || /<table/i.test(html);
  return isAlone && !html.toLowerCase().includes(SEPARATOR) ? opened : WHOLE;
}

/**
 * Removes each <script> and <style> element that has an end tag. Otherwise its tags would be escaped, as GFM specifies,
 * and shown with its code. Safety does not depend on this: remaining tags are escaped, and the result is sanitized.
 */
function removeScripts(html: string): string {
  const lower = html.toLowerCase();
  let kept = '';
  let from = 0;
  for (const opening of lower.matchAll(/<(script|style)(?=[\s/>])/g)) {
    if (opening.index < from) continue;
    const closing = `</${opening[1]}>`;
    const end = lower.indexOf(closing, opening.index);
    if (end < 0) break;
    // Keeps the line numbers of the following text.
    kept += html.slice(from, opening.index) + '\n'.repeat(lineEndsIn(html.slice(opening.index, end)));
    from = end + closing.length;
  }
  return kept + html.slice(from);
}
