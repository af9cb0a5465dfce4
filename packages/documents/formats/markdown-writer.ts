import type { InlineMath, MathBlock } from '@ibid/markdown/math-syntax.ts';
import type { Root } from 'mdast';
import { gfmToMarkdown, type Options } from 'mdast-util-gfm';
import { type Options as ToMarkdownOptions, toMarkdown } from 'mdast-util-to-markdown';

/** Where a node is written: the characters before and after it, and what it is in. */
type Place = { before: string; after: string };
type WriterState = { stack: readonly string[] };

/** What is literal in the text of a document and means something in Markdown or the dialects that pages understand. */
const LITERAL: NonNullable<ToMarkdownOptions['unsafe']> = [
  { character: '$', inConstruct: 'phrasing' },
  // Front matter, boxes, comments.
  { atBreak: true, character: '+', after: '\\+\\+[ \\t]*(?:[\\r\\n]|$)' },
  { atBreak: true, character: ':', after: '::' },
  { character: '%', after: '%', inConstruct: 'phrasing' },
  // Statements of MDX: code that a document has as text.
  { atBreak: true, character: 'i', after: `mport\\s+(?:['"{*]|[\\w$]+(?:\\s*,[^\\n]*)?\\s+from\\s+['"])` },
  { atBreak: true, character: 'e', after: 'xport\\s+(?:const|let|var|function|default|async|class)\\s' },
  // Ids of blocks and of headings.
  { character: '^', before: '[ \\t\\n]', after: '[\\w-]{2,64}[ \\t]*(?:[\\r\\n]|$)', inConstruct: 'phrasing' },
  { character: '{', before: '[ \\t]', after: ':?[ \\t]*[#.]', inConstruct: ['headingAtx', 'headingSetext'] },
];

/** The Markdown serializer of all extractors; the options are those of mdast-util-gfm. */
export function markdownWriter(options?: Options) {
  const settings: ToMarkdownOptions = {
    bullet: '-',
    fences: true,
    // Dashes could begin front matter.
    rule: '*',
    unsafe: LITERAL,
    handlers: { inlineMath: writeInlineMath, math: writeMathBlock },
    extensions: [gfmToMarkdown(options)],
  };
  return { stringify: (tree: Root) => toMarkdown(tree, settings) };
}

/** A dollar sign beside a word is a price, so an invisible space separates them. */
const SEPARATOR = '\u200b';

function writeInlineMath(
  { value }: InlineMath,
  _parent: unknown,
  { stack }: WriterState,
  { before, after }: Place,
): string {
  const line = oneLine(value);
  const tex = stack.includes('tableCell') ? line.replaceAll('\\|', '\\Vert ').replaceAll('|', '\\vert ').trim() : line;
  const isPrice = /[\w$]$/.test(before);
  return `${isPrice ? SEPARATOR : ''}$${tex}$${/^[\w$]/.test(after) ? SEPARATOR : ''}`;
}

function writeMathBlock({ value }: MathBlock): string {
  return `$$\n${oneLine(value)}\n$$`;
}

/** A backslash at the end would escape the dollar sign behind it. */
function oneLine(tex: string): string {
  return tex
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/(?<!\\)((?:\\\\)*)\\$/, '$1');
}
