import type { Element, Nodes, Root } from 'hast';
import { raw } from 'hast-util-raw';
import { type Schema, sanitize } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import type { Root as Markdown } from 'mdast';
import { toHast } from 'mdast-util-to-hast';
import { VFile } from 'vfile';
import { CALLOUT_CLASS } from './dialects.ts';
import { CODE_CLASS } from './highlight.ts';
import { elementHandlers } from './page-elements.ts';
import { assertDepth } from './parse-markdown.ts';
import { lineEndsIn } from './plain-text.ts';
import { ID_PREFIX, rewriteIdsAndAddresses } from './safe-addresses.ts';
import { NO_WIKI, type Wiki } from './wiki-links.ts';

/**
 * The allowed elements and attributes: GitHub's, without those that load, submit or frame something, and ids only with
 * our prefix. Elements that are not listed are replaced by their content; those under `strip` are removed with it.
 */
const SCHEMA: Schema = {
  tagNames: (
    'a abbr b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 ' +
    'h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup ' +
    'table tbody td tfoot th thead time tr tt u ul var wbr'
  ).split(' '),
  strip: 'applet embed frame frameset head iframe math noembed noframes object script style svg'.split(' '),
  ancestors: Object.fromEntries('caption tbody td tfoot th thead tr'.split(' ').map((name) => [name, ['table']])),
  attributes: {
    a: [
      'href',
      ['rel', 'nofollow', 'noopener', 'noreferrer'],
      ['className', 'data-footnote-backref', 'wiki', 'missing'],
      'dataTarget',
      'dataFragment',
      'dataFootnoteBackref',
      'dataFootnoteRef',
      'ariaLabel',
      ['ariaDescribedBy', new RegExp(`^${ID_PREFIX}`)],
    ],
    code: [['className', /^language-./, 'math-inline', 'math-display']],
    blockquote: [['className', CALLOUT_CLASS]],
    details: ['open', ['className', CALLOUT_CLASS]],
    h2: [['className', 'sr-only']],
    img: ['src', 'alt', 'width', 'height', ['loading', 'lazy'], ['referrerPolicy', 'no-referrer']],
    input: [['type', 'checkbox'], ['disabled', true], 'checked'],
    li: [['className', 'task-list-item']],
    ol: ['start', ['className', 'contains-task-list']],
    p: [['className', 'callout-title']],
    pre: [['className', 'math', 'mermaid']],
    summary: [['className', 'callout-title']],
    section: ['dataFootnotes', ['className', 'footnotes']],
    span: [['className', CODE_CLASS]],
    td: ['colSpan', 'rowSpan'],
    th: ['colSpan', 'rowSpan', 'scope'],
    time: ['dateTime'],
    ul: [['className', 'contains-task-list']],
    '*': [
      ['id', new RegExp(`^${ID_PREFIX}.`)],
      ['align', 'left', 'right', 'center'],
      ['dir', 'ltr', 'rtl', 'auto'],
      'lang',
      'title',
    ],
  },
  required: { input: { type: 'checkbox', disabled: true } },
  protocols: { href: ['http', 'https', 'mailto'], src: ['http', 'https'] },
  // Ids have the prefix already; others are removed here.
  clobber: [],
  clobberPrefix: '',
};

/**
 * The safe tree of a Markdown document. The sanitizer runs last, after all other changes. Throws a TooComplexError for
 * raw HTML that is nested too deep.
 */
export function safeTree(markdown: Markdown, wiki: Wiki = NO_WIKI): Root {
  const handlers = elementHandlers(wiki);
  const tree = asRoot(toHast(markdown, { allowDangerousHtml: true, clobberPrefix: ID_PREFIX, handlers }));
  if (!hasRawHtml(tree)) return sanitizeTree(tree, wiki);
  // Removing elements can leave a nesting that browsers do not keep, so the result is parsed once more.
  return sanitizeTree(parseRawHtml(sanitizeTree(parseRawHtml(tree), wiki)), wiki);
}

/** Sanitizes a tree of HTML in place. A safe tree is unchanged. */
export function sanitizeTree(tree: Root, { wiki_id }: Pick<Wiki, 'wiki_id'> = NO_WIKI): Root {
  rewriteIdsAndAddresses(tree, wiki_id);
  return asRoot(sanitize(tree, SCHEMA));
}

/** Writes a safe tree as a fragment of HTML that parses to the same tree; a literal carriage return would be lost. */
export function writeHtml(tree: Root): string {
  return toHtml(tree).replaceAll('\r', '&#xD;');
}

function asRoot(node: Nodes): Root {
  return node.type === 'root' ? node : { type: 'root', children: [node] as Root['children'] };
}

/** Positions are only kept if a file is given; its content does not matter. */
const EMPTY_FILE = new VFile();

/**
 * The tree that a browser would make of this one, with raw HTML parsed. Tags that would swallow the following text
 * (<title>, <xmp>, …) are shown as text, as GFM specifies.
 */
function parseRawHtml(tree: Root): Root {
  const result = asRoot(raw(tree, { tagfilter: true, file: EMPTY_FILE }));
  assertDepth(result);
  return result;
}

/** Whether the document contains raw HTML; most do not, and skip parsing it. */
function hasRawHtml(node: Root | Element): boolean {
  let found = false;
  for (const child of node.children as ((typeof node.children)[number] | { type: 'raw'; value: string })[]) {
    if (child.type === 'raw') {
      child.value = removeScripts(child.value);
      found = true;
    } else if (child.type === 'element' && hasRawHtml(child)) {
      found = true;
    }
  }
  return found;
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
