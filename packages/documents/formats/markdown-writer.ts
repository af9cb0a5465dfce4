import type { InlineMath, MathBlock } from '@ibid/markdown/math-syntax.ts';
import type { Root } from 'mdast';
import { gfmToMarkdown, type Options } from 'mdast-util-gfm';
import { type Options as ToMarkdownOptions, toMarkdown } from 'mdast-util-to-markdown';

/** The characters before and after a node. */
type Place = { before: string; after: string };
type WriterState = { stack: readonly string[] };

/** Literal text of a document that would have a meaning in Markdown or the dialects that pages support. */
const LITERAL: NonNullable<ToMarkdownOptions['unsafe']> = [
  { character: '$', inConstruct: 'phrasing' },
  // Front matter, boxes and comments.
  { atBreak: true, character: '+', after: '\\+\\+[ \\t]*(?:[\\r\\n]|$)' },
  { atBreak: true, character: ':', after: '::' },
  { character: '%', after: '%', inConstruct: 'phrasing' },
  // MDX statements, which a document contains as text.
  { atBreak: true, character: 'i', after: `mport\\s+(?:['"{*]|[\\w$]+(?:\\s*,[^\\n]*)?\\s+from\\s+['"])` },
  { atBreak: true, character: 'e', after: 'xport\\s+(?:const|let|var|function|default|async|class)\\s' },
  // Ids of blocks and of headings.
  { character: '^', before: '[ \\t\\n]', after: '[\\w-]{2,64}[ \\t]*(?:[\\r\\n]|$)', inConstruct: 'phrasing' },
  { character: '{', before: '[ \\t]', after: ':?[ \\t]*[#.]', inConstruct: ['headingAtx', 'headingSetext'] },
];

/** Creates the Markdown serializer of all extractors; takes the options of mdast-util-gfm. */
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

/** A dollar sign next to a word is read as a price, so a zero-width space separates them. */
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

/** A trailing backslash would escape the dollar sign that follows. */
function oneLine(tex: string): string {
  return tex
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/(?<!\\)((?:\\\\)*)\\$/, '$1');
}
