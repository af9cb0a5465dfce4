import remarkGfm, { type Options } from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';
import type { InlineMath, MathBlock } from '../../markdown/math-syntax.ts';

/** Where a node is written: the characters before and after it, and what it is in. */
type Place = { before: string; after: string };
type WriterState = { stack: readonly string[] };

/** The Markdown serializer of all extractors; the options are those of remark-gfm. */
export function markdownWriter(options?: Options) {
  return unified()
    .use(remarkGfm, options)
    .use(remarkStringify, {
      bullet: '-',
      fences: true,
      rule: '-',
      // A dollar sign in text or HTML is literal; in Markdown it could start mathematics.
      unsafe: [{ character: '$', inConstruct: 'phrasing' }],
      handlers: { inlineMath: writeInlineMath, math: writeMathBlock },
    })
    .freeze();
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
