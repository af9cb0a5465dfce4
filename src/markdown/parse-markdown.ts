import type { Nodes, Root } from 'mdast';
import remarkFrontmatter from 'remark-frontmatter';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { type Data, type Processor, unified } from 'unified';
import { expectEmails, rarelyEmails } from './email-syntax.ts';
import { mathFromMarkdown, mathSyntax } from './math-syntax.ts';
import { wikiLinkFromMarkdown, wikiLinkSyntax } from './wiki-link-syntax.ts';

/** Where the destination of a link, an image or a definition stands in the source, in UTF-16 units: [start, end). */
export type Destination = [start: number, end: number];

declare module 'mdast' {
  interface Data {
    destination?: Destination;
    /** Of code between fences: it begins on the line behind the first one. */
    isFenced?: boolean;
  }
}

/** The document cannot be shown as what it says within sensible bounds; it can still be shown as plain text. */
export class TooComplexError extends Error {}

/** Browsers stop nesting at 512 elements, and every step below recurses; documents by people stay under 20. */
const MAX_DEPTH = 256;

/** Cells that tables are filled up with: `|a|b|…` of n columns and m short rows stands for n × m cells. */
const MAX_TABLE_CELLS = 200_000;

/** Each reference to a footnote has its own way back, fifty times as long as the reference. */
const MAX_FOOTNOTE_REFERENCES = 5_000;

const parser = unified().use(remarkParse).use(remarkGfm).use(extendSyntax).freeze();
const frontMatterParser = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter).use(extendSyntax).freeze();

/** Where a first line of dashes is only a rule, a parser that looks for front matter finds no list or quote behind it. */
const FRONT_MATTER = /^---[ \t]*(?:\r\n?|\n)(?:[^]*?[\r\n])?---[ \t]*(?:[\r\n]|$)/;

/**
 * The syntax tree of GitHub-flavoured Markdown with front matter, mathematics and wiki links. Links, images and definitions carry the place of
 * their destination in `data.destination`, and code says in `data.isFenced` how it was written. Throws a TooComplexError for what is nested too deep or would grow beyond
 * measure: whether it does depends on the text alone.
 */
export function parseMarkdown(markdown: string): Root {
  refuseTooManyMarkers(markdown);
  expectEmails(markdown);
  const tree = withoutOverflow(() => (FRONT_MATTER.test(markdown) ? frontMatterParser : parser).parse(markdown));
  refuseTooComplex(tree, markdown.length);
  return tree;
}

/** Runs `work`; where it overflows the stack, or a string outgrows the engine's limit, that is a TooComplexError. */
export function withoutOverflow<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new TooComplexError(error.message, { cause: error });
    throw error;
  }
}

/**
 * A line of a hundred thousand `>` keeps the parser busy for a minute before anybody sees how deep it is, so the marks of
 * quotes and lists at the beginning of a line are counted first. A long `* * *` is a rule and holds nothing.
 */
function refuseTooManyMarkers(markdown: string): void {
  for (const [markers] of markdown.matchAll(/^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/gm)) {
    if (markers.length <= MAX_DEPTH || /^(?:[-\s]*|[*\s]*)$/.test(markers)) continue;
    if ((markers.match(/>|[-+*]|\d+[.)]/g) ?? []).length > MAX_DEPTH) throw tooDeep();
  }
}

/** Throws a TooComplexError for a tree deeper than any step could take; itself, it does not recurse. */
export function refuseTooDeep(tree: { children: unknown[] }): void {
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

function refuseTooComplex(tree: Root, size: number): void {
  refuseTooDeep(tree);
  const definitions = new Map<string, number>();
  const references = new Map<string, number>();
  let cells = 0;
  let footnotes = 0;
  visit(tree, (node) => {
    if (node.type === 'table') cells += (node.align?.length ?? 0) * node.children.length;
    if (node.type === 'footnoteReference') footnotes += 1;
    // Of definitions with the same label the first one counts.
    if (node.type === 'definition' && !definitions.has(node.identifier)) {
      definitions.set(node.identifier, node.url.length + (node.title?.length ?? 0));
    }
    if (node.type === 'linkReference' || node.type === 'imageReference') {
      references.set(node.identifier, (references.get(node.identifier) ?? 0) + 1);
    }
  });
  if (footnotes > MAX_FOOTNOTE_REFERENCES) throw new TooComplexError('too many references to footnotes');
  if (cells > MAX_TABLE_CELLS) throw new TooComplexError(`tables of more than ${MAX_TABLE_CELLS} cells`);

  // A long destination, referred to a thousand times, would be written out a thousand times (cmark's rule).
  let expanded = 0;
  for (const [label, count] of references) expanded += count * (definitions.get(label) ?? 0);
  if (expanded > Math.max(size, 100_000)) throw new TooComplexError('references that expand beyond the document');
}

/** Calls `each` for every node, parents first. */
export function visit(node: Nodes, each: (node: Nodes) => void): void {
  each(node);
  if ('children' in node) for (const child of node.children) visit(child, each);
}

/** Mathematics, wiki links, and where destinations stand in the source, which syntax trees leave out. */
function extendSyntax(this: Processor): void {
  const data = this.data();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []).map(rarelyEmails), mathSyntax, wikiLinkSyntax];
  (data.fromMarkdownExtensions ??= []).push(mathFromMarkdown, wikiLinkFromMarkdown, {
    exit: {
      resourceDestinationString: keepDestination,
      definitionDestinationString: keepDestination,
      codeFencedFenceSequence: keepFence,
    },
  });
}

type Extension = Exclude<NonNullable<Data['fromMarkdownExtensions']>[number], unknown[]>;
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
