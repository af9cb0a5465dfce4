import type { Element, Root } from 'hast';
import { raw } from 'hast-util-raw';
import { VFile } from 'vfile';
import { assertDepth } from './parse-markdown.ts';
import { lineEndsIn } from './plain-text.ts';
import { IN_MARKDOWN, withEndTags } from './raw-html/empty-elements.ts';

/** Consecutive blocks of a page. */
export interface Part {
  tree: Root;
  /** Whether raw HTML is or was in it. Whether tags are balanced in it, only parsing tells. */
  isHtml: boolean;
}

type Child = Root['children'][number] | { type: 'raw'; value: string };

/** More tags than a page has: it is parsed as a whole. */
const WHOLE = Number.POSITIVE_INFINITY;

/** Stands between parts that are parsed at once. */
const SEPARATOR = 'x-part';

/** Positions are only kept if a file is given; its content does not matter. */
const EMPTY_FILE = new VFile();

/**
 * The tree that a browser would make of this one, with raw HTML parsed. Tags that would swallow the following text
 * (<title>, <xmp>, …) are shown as text, as GFM specifies. Throws a TooComplexError for what is nested too deep.
 */
export function parseRawHtml(tree: Root): Root {
  const made = raw(tree, { tagfilter: true, file: EMPTY_FILE });
  const result: Root = made.type === 'root' ? made : { type: 'root', children: [made] as Root['children'] };
  assertDepth(result);
  return result;
}

/**
 * The same for a page in parts, of which those with raw HTML are parsed, which takes much less time. Undefined if HTML
 * of one part reaches into the next: then only the whole page can be parsed.
 */
export function parseHtmlParts(parts: readonly Part[]): Part[] | undefined {
  const children: Root['children'] = [];
  for (const [i, { tree, isHtml }] of parts.entries()) {
    if (!isHtml) continue;
    // A parser treats what a document begins with in another way, so that only others are preceded by an element.
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
  // Behind the last separator is nothing, unless something was moved there; one that was moved into an element is missing.
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
 * The page in parts that begin with a block that has raw HTML, and end where as many tags are closed as were opened.
 * Undefined if it can only be parsed as a whole.
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
    // A line break after HTML is parsed with it: what it leaves open would take that in.
    if (last && (isHtml ? continues : !last.isHtml)) last.tree.children.push(child);
    else parts.push({ tree: { type: 'root', children: [child] }, isHtml });
    isBehindHtml = isHtml && child.type !== 'text';
  }
  return parts;
}

/** How many tags raw HTML opens and does not close, or WHOLE; undefined where there is none. */
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

/** Whether the document contains raw HTML; most do not, and skip parsing it. Removes scripts and styles from it. */
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
/** A parser that meets one of these first takes all that follows for the content of a table. */
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
 * Removes whole <script> and <style> elements from raw HTML, which would otherwise be shown as text. Safety does not
 * depend on this: the rest is escaped and sanitized.
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
