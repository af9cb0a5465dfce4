import type { Element, Nodes, Root } from 'hast';
import { type Schema, sanitize } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import type { Definition, FootnoteDefinition, Root as Markdown } from 'mdast';
import { defaultHandlers, type State, toHast } from 'mdast-util-to-hast';
import { CALLOUT_CLASS } from './dialects/callouts.ts';
import { CODE_CLASS } from './highlight.ts';
import { hasRawHtml, type Part, parseHtmlParts, parseRawHtml, partsOf } from './html-parts.ts';
import { elementHandlers } from './page-elements.ts';
import { visit } from './parse-markdown.ts';
import { ID_PREFIX, OTHER_SCHEMES, rewriteIdsAndAddresses } from './safe-addresses.ts';
import { NO_WIKI, type Wiki } from './wiki-links.ts';

/**
 * The allowed elements and attributes: GitHub's, except any that load, submit or frame content, and ids only with our
 * prefix. Elements that are not listed are replaced by their content; elements under `strip` are removed with it.
 */
const SCHEMA: Schema = {
  tagNames: (
    'a abbr audio b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 ' +
    'h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small source span strike strong sub summary sup ' +
    'table tbody td tfoot th thead time tr tt u ul var video wbr'
  ).split(' '),
  strip: 'applet embed frame frameset head iframe math noembed noframes script style svg'.split(' '),
  ancestors: {
    ...Object.fromEntries('caption tbody td tfoot th thead tr'.split(' ').map((name) => [name, ['table']])),
    source: ['audio', 'video'],
  },
  attributes: {
    a: [
      'href',
      ['rel', 'nofollow', 'noopener', 'noreferrer'],
      ['className', 'data-footnote-backref', 'wiki', 'missing', 'embed'],
      'dataTarget',
      'dataFragment',
      'dataFootnoteBackref',
      'dataFootnoteRef',
      'ariaLabel',
      ['ariaDescribedBy', new RegExp(`^${ID_PREFIX}`)],
    ],
    audio: ['src', ['controls', true], ['preload', 'metadata', 'none']],
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
    source: ['src'],
    span: [['className', CODE_CLASS]],
    td: ['colSpan', 'rowSpan'],
    th: ['colSpan', 'rowSpan', 'scope'],
    time: ['dateTime'],
    ul: [['className', 'contains-task-list']],
    video: ['src', 'width', 'height', ['controls', true], ['preload', 'metadata', 'none']],
    '*': [
      ['id', new RegExp(`^${ID_PREFIX}.`)],
      ['align', 'left', 'right', 'center'],
      ['dir', 'ltr', 'rtl', 'auto'],
      'lang',
      'title',
    ],
  },
  required: { input: { type: 'checkbox', disabled: true } },
  protocols: { href: ['http', 'https', ...OTHER_SCHEMES], src: ['http', 'https'] },
  // Ids have the prefix already; others are removed here.
  clobber: [],
  clobberPrefix: '',
};

/**
 * Returns the safe tree of a Markdown document. The sanitizer runs last, after all other changes. Throws a
 * TooComplexError for raw HTML that is nested too deep.
 */
export function safeTree(markdown: Markdown, wiki: Wiki = NO_WIKI): Root {
  const tree = hastOf(markdown, wiki);
  if (!hasRawHtml(tree)) return sanitizeTree(tree, wiki);
  const parts = partsOf(tree);
  return (parts && safeParts(parts, wiki)) ?? safeWhole(markdown, wiki);
}

function hastOf(markdown: Markdown, wiki: Wiki): Root {
  const handlers = {
    ...elementHandlers(wiki),
    // The type of handlers does not allow a root.
    root: (state: State) => defaultHandlers.root(state, markdown) as unknown as Element,
  };
  // toHast visits every node for definitions before it begins, so it only gets the definitions.
  const definitions: Markdown = { type: 'root', children: definitionsIn(markdown) };
  return asRoot(toHast(definitions, { allowDangerousHtml: true, clobberPrefix: ID_PREFIX, handlers }));
}

/** Returns the definitions of a document in order: the first definition of a label counts. */
function definitionsIn(markdown: Markdown): (Definition | FootnoteDefinition)[] {
  const definitions: (Definition | FootnoteDefinition)[] = [];
  visit(markdown, (node) => {
    if (node.type === 'definition' || node.type === 'footnoteDefinition') definitions.push(node);
  });
  return definitions;
}

/** Parses and sanitizes twice: removing elements can leave a nesting that browsers do not keep. */
function safeParts(parts: readonly Part[], wiki: Wiki): Root | undefined {
  const parsed = parseHtmlParts(parts);
  const again = parsed && parseHtmlParts(sanitizeParts(parsed, wiki));
  return again && joined(sanitizeParts(again, wiki));
}

function safeWhole(markdown: Markdown, wiki: Wiki): Root {
  const tree = hastOf(markdown, wiki);
  hasRawHtml(tree);
  return sanitizeTree(parseRawHtml(sanitizeTree(parseRawHtml(tree), wiki)), wiki);
}

/** Sanitizes the parts of a page. Ids are unique across parts. */
function sanitizeParts(parts: readonly Part[], { wiki_id }: Pick<Wiki, 'wiki_id'>): Part[] {
  rewriteIdsAndAddresses(
    parts.map(({ tree }) => tree),
    wiki_id,
  );
  return parts.map((part) => ({ ...part, tree: asRoot(sanitize(part.tree, SCHEMA)) }));
}

function joined(parts: readonly Part[]): Root {
  return { type: 'root', children: parts.flatMap(({ tree }) => tree.children) };
}

/** Sanitizes a tree of HTML in place. A safe tree is unchanged. */
export function sanitizeTree(tree: Root, { wiki_id }: Pick<Wiki, 'wiki_id'> = NO_WIKI): Root {
  return joined(sanitizeParts([{ tree, isHtml: true }], { wiki_id }));
}

/** Writes a safe tree as a fragment of HTML that parses to the same tree; a literal carriage return would be lost. */
export function writeHtml(tree: Root): string {
  return toHtml(tree).replaceAll('\r', '&#xD;');
}

function asRoot(node: Nodes): Root {
  return node.type === 'root' ? node : { type: 'root', children: [node] as Root['children'] };
}
