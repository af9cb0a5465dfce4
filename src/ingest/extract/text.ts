import type { Code, Paragraph, PhrasingContent, Root } from 'mdast';
import { markdownWriter } from './markdown-writer.ts';

const writer = markdownWriter();

/** Escaping looks at every character many times; a text of this length is data or a log, and reads better as it is. */
const PROSE_MAX = 256 * 1024;

/** Nobody writes such a paragraph: these are lines of data, and Markdown is slow to read in paragraphs of this length. */
const PARAGRAPH_MAX = 20_000;

const ADDRESS = /https?:\/\/[^\s<>"'`(){}[\]\\^|]*[^\s<>"'`(){}[\]\\^|.,;:!?*_~]/g;

/**
 * Plain text as Markdown that shows just that text. Prose becomes paragraphs that keep their line breaks, with
 * everything escaped that Markdown would take for markup; where spaces carry meaning (indented lines, columns), the lines
 * become a block of code, the only form in which Markdown keeps them.
 */
export function textToMarkdown(text: string): string {
  if (text.length > PROSE_MAX) return textAsCode(text);
  const children: (Paragraph | Code)[] = [];
  for (const block of text.split(/\n(?:[ \t]*\n)+/)) {
    if (block.trim() === '') continue;
    const last = children.at(-1);
    if (!isPreformatted(block)) children.push({ type: 'paragraph', children: linesOf(block) });
    else if (last?.type === 'code') last.value += `\n\n${block}`;
    else children.push({ type: 'code', value: block.replace(/\n+$/, '') });
  }
  const root: Root = { type: 'root', children };
  return writer.stringify(root);
}

/** A whole text as one block of code. */
export function textAsCode(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n*$/, '')}\n${fence}\n`;
}

/** A first line that is indented begins a paragraph; two spaces behind a full stop are a habit. */
function isPreformatted(block: string): boolean {
  if (block.length > PARAGRAPH_MAX) return true;
  const lines = block.split('\n');
  const indented = lines.filter((line) => /^[ \t]/.test(line)).length;
  if (indented > 1 || (indented === 1 && (lines.length < 3 || !/^[ \t]/.test(lines[0] ?? '')))) return true;
  return lines.some((line) => /\S(?:[ ]*\t[ \t]*| {3,}|(?<![.?!:;,)"'”’]) {2})\S/.test(line));
}

function linesOf(block: string): PhrasingContent[] {
  const content: PhrasingContent[] = [];
  for (const line of block.split('\n')) {
    if (line.trim() === '') continue;
    if (content.length > 0) content.push({ type: 'break' });
    content.push(...withAddresses(line.replace(/^[ \t]+|[ \t]+$/g, '')));
  }
  return content;
}

/** An address is written as one, <https://…>, because escaping it so that it is none would make it unreadable. */
function withAddresses(line: string): PhrasingContent[] {
  const content: PhrasingContent[] = [];
  let from = 0;
  for (const { 0: url, index } of line.matchAll(ADDRESS)) {
    if (index > from) content.push({ type: 'text', value: line.slice(from, index) });
    content.push({ type: 'link', url, children: [{ type: 'text', value: url }] });
    from = index + url.length;
  }
  if (from < line.length) content.push({ type: 'text', value: line.slice(from) });
  return content;
}
