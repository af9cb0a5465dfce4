import type { Nodes, Root } from 'mdast';
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly';
import remarkFrontmatter from 'remark-frontmatter';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { type Data, type Processor, unified } from 'unified';
import { takeMarks } from './dialects/attributes.ts';
import { takeBlockIds } from './dialects/block-ids.ts';
import { formulaLines } from './dialects/formula-lines.ts';
import { readDialects } from './dialects/read-dialects.ts';
import { withFrontMatterEnd } from './front-matter/ends.ts';
import { mathFromMarkdown, mathSyntax } from './math-syntax.ts';
import { expectSyntax, neededSyntax, onlyNeeded } from './needed-syntax.ts';
import { hasCostlyParagraph } from './parse-cost.ts';
import { showUnknownTags } from './raw-html/unknown-tags.ts';
import type { BlockParser } from './reuse/block-cache.ts';
import { wikiLinkFromMarkdown, wikiLinkSyntax } from './wiki-link-syntax.ts';

/** The range of the destination of a link, an image or a definition in the source, in UTF-16 units: [start, end). */
type Destination = [start: number, end: number];

declare module 'mdast' {
  interface Data {
    destination?: Destination;
    /** For fenced code: the content begins on the line after the fence. */
    isFenced?: boolean;
  }
  interface RootData {
    /** Ranges of presentation marks that are not shown, [start, end). */
    marks?: readonly (readonly [number, number])[];
  }
}

/** The document is too deep or too large to render; it can be shown as plain text. */
export class TooComplexError extends Error {}

/** Browsers limit nesting to 512 elements, and every later step recurses; real documents stay under 20. */
const MAX_DEPTH = 256;

/** The cells that tables are padded with: `|a|b|…` of n columns and m short rows gives n × m cells. */
const MAX_TABLE_CELLS = 200_000;

/** Each footnote reference gives a back reference, fifty times its length. */
const MAX_FOOTNOTE_REFERENCES = 5_000;

/** One tilde is literal: `H~2~O` is chemistry in the Markdown of Pandoc, and GFM only allows it to mean a deletion. */
const GFM = { singleTilde: false };

type Parser = Processor<Root>;

/** Parsers by the set of constructs they support. A few dozen combinations occur in practice. */
const parsers = new Map<string, Parser>();

/** If the first line of dashes is a thematic break, the front matter parser would not find a list or quote after it. */
export const FRONT_MATTER = /^(---|\+\+\+)[ \t]*(?:\r\n?|\n)(?:[\s\S]*?[\r\n])?\1[ \t]*(?:[\r\n]|$)/;

/**
 * Parses GitHub-flavoured Markdown with front matter, mathematics and wiki links. Links, images and definitions have
 * the range of their destination in `data.destination`, fenced code has `data.isFenced`, and the root lists hidden
 * ranges in `data.hidden`. Throws a TooComplexError if the text is nested too deep or would expand too much, which
 * depends only on the text. `blocks` caches recently parsed blocks.
 */
export function parseMarkdown(written: string, blocks?: BlockParser): Root {
  const markdown = withFrontMatterEnd(written);
  assertFewMarkers(markdown);
  if (hasCostlyParagraph(markdown)) throw new TooComplexError('a paragraph with too many brackets or emphasis marks');
  const tree = readDialects(markdown, (text) => treeOf(text, blocks));
  showUnknownTags(tree, markdown);
  const marks = takeMarks(tree, markdown);
  if (marks.length > 0) tree.data = { ...tree.data, marks };
  takeBlockIds(tree, markdown);
  return tree;
}

function treeOf(markdown: string, blocks: BlockParser | undefined): Root {
  const tree = catchOverflow(() =>
    blocks ? blocks.parse(markdown, parsePart) : parsePart(markdown, formulaLines(markdown)),
  );
  assertSize(tree, markdown.length);
  return tree;
}

function parsePart(markdown: string, formulas: ReadonlySet<number>): Root {
  const needed = neededSyntax(markdown);
  expectSyntax(markdown, needed, formulas);
  const parser = parserFor(needed, FRONT_MATTER.test(markdown));
  return linkAddresses(parser.parse(markdown));
}

/** Calls `work`; throws a TooComplexError if it overflows the stack or exceeds the maximum length of strings. */
export function catchOverflow<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new TooComplexError(error.message, { cause: error });
    throw error;
  }
}

/**
 * A line of a hundred thousand `>` takes the parser a minute before its depth is known, so quote and list markers at
 * the beginning of a line are counted first. A long `* * *` is a thematic break without content.
 */
function assertFewMarkers(markdown: string): void {
  for (const [markers] of markdown.matchAll(/^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/gm)) {
    if (markers.length <= MAX_DEPTH || /^(?:[-\s]*|[*\s]*)$/.test(markers)) continue;
    if ((markers.match(/>|[-+*]|\d+[.)]/g) ?? []).length > MAX_DEPTH) throw tooDeep();
  }
}

/** Throws a TooComplexError if the tree is deeper than MAX_DEPTH. Iterative, so that it cannot overflow the stack. */
export function assertDepth(tree: { children: unknown[] }): void {
  let level: unknown[] = tree.children;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw tooDeep();
    const next: unknown[] = [];
    for (const node of level) {
      const children = (node as { children?: unknown[] }).children;
      if (children) for (const child of children) next.push(child);
    }
    level = next;
  }
}

function tooDeep(): TooComplexError {
  return new TooComplexError(`nested deeper than ${MAX_DEPTH}`);
}

function assertSize(tree: Root, size: number): void {
  assertDepth(tree);
  const definitions = new Map<string, number>();
  const references = new Map<string, number>();
  let cells = 0;
  let footnotes = 0;
  visit(tree, (node) => {
    if (node.type === 'table') cells += (node.align?.length ?? 0) * node.children.length;
    if (node.type === 'footnoteReference') footnotes += 1;
    // The first definition of a label wins.
    if (node.type === 'definition' && !definitions.has(node.identifier)) {
      definitions.set(node.identifier, node.url.length + (node.title?.length ?? 0));
    }
    if (node.type === 'linkReference' || node.type === 'imageReference') {
      references.set(node.identifier, (references.get(node.identifier) ?? 0) + 1);
    }
  });
  if (footnotes > MAX_FOOTNOTE_REFERENCES) throw new TooComplexError('too many references to footnotes');
  if (cells > MAX_TABLE_CELLS) throw new TooComplexError(`tables of more than ${MAX_TABLE_CELLS} cells`);

  // A long destination with a thousand references would be written a thousand times (cmark has the same limit).
  let expanded = 0;
  for (const [label, count] of references) expanded += count * (definitions.get(label) ?? 0);
  if (expanded > Math.max(size, 100_000)) throw new TooComplexError('references that expand beyond the document');
}

/** Calls `each` for every node, parents first. */
export function visit(node: Nodes, each: (node: Nodes) => void): void {
  each(node);
  if ('children' in node) for (const child of node.children) visit(child, each);
}

function parserFor(needed: ReadonlySet<string>, hasFrontMatter: boolean): Parser {
  const key = [...needed, hasFrontMatter].join();
  const known = parsers.get(key);
  if (known) return known;
  const base = unified().use(remarkParse).use(remarkGfm, GFM).use(extendSyntax, needed);
  const parser: Parser = (hasFrontMatter ? base.use(remarkFrontmatter, ['yaml', 'toml']) : base).freeze();
  parsers.set(key, parser);
  return parser;
}

/** Adds mathematics, wiki links, and the source ranges of destinations, which syntax trees lack. */
function extendSyntax(this: Processor, needed: ReadonlySet<string>): void {
  const data = this.data();
  const syntax = [...(data.micromarkExtensions ?? []), mathSyntax, wikiLinkSyntax];
  const kept = syntax.map((extension) => onlyNeeded(extension, needed));
  // `**注意：**请` is bold: CommonMark's rules for spaces around marks do not fit scripts without spaces.
  data.micromarkExtensions = needed.has('cjkEmphasis') ? [cjkFriendlyExtension(), ...kept] : kept;
  data.fromMarkdownExtensions = [
    ...(data.fromMarkdownExtensions ?? []).flat().map(withoutTransforms),
    mathFromMarkdown,
    wikiLinkFromMarkdown,
    {
      exit: {
        resourceDestinationString: keepDestination,
        definitionDestinationString: keepDestination,
        codeFencedFenceSequence: keepFence,
      },
    },
  ];
}

type Extension = Exclude<NonNullable<Data['fromMarkdownExtensions']>[number], unknown[]>;

function withoutTransforms({ transforms: _, ...extension }: Extension): Extension {
  return extension;
}

/**
 * Transforms that GitHub's extensions apply to a finished tree: they link addresses that only become complete once
 * character references are decoded.
 */
const TRANSFORMS = (unified().use(remarkGfm, GFM).freeze().data().fromMarkdownExtensions ?? [])
  .flat()
  .flatMap(({ transforms }) => transforms ?? []);

/** An unlinked address. Addresses without character references are links by now. */
const ADDRESS = /https?:\/\/|www\.|@/i;

/** Applies the transforms only if the tree has an unlinked address, because they search each text four times. */
function linkAddresses(tree: Root): Root {
  if (hasAddress(tree)) for (const transform of TRANSFORMS) transform(tree);
  return tree;
}

function hasAddress(node: Nodes): boolean {
  if (node.type === 'text') return ADDRESS.test(node.value);
  if (node.type === 'link' || node.type === 'linkReference' || !('children' in node)) return false;
  return node.children.some(hasAddress);
}
type Handle = NonNullable<NonNullable<Extension['exit']>[string]>;

function keepFence(this: ThisParameterType<Handle>): undefined {
  const node = this.stack[this.stack.length - 1];
  if (node?.type === 'code') node.data = { isFenced: true };
}

function keepDestination(this: ThisParameterType<Handle>, token: Parameters<Handle>[0]): undefined {
  const url = this.resume();
  const node = this.stack[this.stack.length - 1];
  if (node && 'url' in node) {
    node.url = url;
    node.data = { ...node.data, destination: [token.start.offset, token.end.offset] };
  }
}

/** Returns the line at which a node begins, from 1; 0 for a node that is not in the text. */
export function lineOf(node: object): number {
  return (node as { position?: { start: { line: number } } }).position?.start.line ?? 0;
}
