import type { Code, Paragraph, PhrasingContent, Root } from 'mdast';
import { lineEndsIn } from '../../markdown/plain-text.ts';
import { addRun, type LineRun } from '../source-lines.ts';
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
 * become a block of code, the only form in which Markdown keeps them. `lines` are those of the text.
 */
export function textToMarkdown(text: string): { markdown: string; lines: LineRun[] } {
  if (text.length > PROSE_MAX) return { markdown: textAsCode(text), lines: LINES_OF_CODE };
  const children: (Paragraph | Code)[] = [];
  const lines: LineRun[] = [];
  /** The line of the Markdown that the next block would begin on, an empty one behind the last. */
  let at = 1;
  /** Where the block that is looked at begins in the text. */
  let line = 1;
  for (const [i, block] of text.split(/(\n(?:[ \t]*\n)+)/).entries()) {
    if (i % 2 === 0 && block.trim() !== '') addBlock(block);
    line += lineEndsIn(block);
  }
  const root: Root = { type: 'root', children };
  return { markdown: writer.stringify(root), lines };

  function addBlock(block: string): void {
    const last = children.at(-1);
    if (!isPreformatted(block)) {
      for (const [i, each] of block.split('\n').entries()) {
        if (each.trim() !== '') addRun(lines, { at: at++, line: line + i, height: 1 });
      }
      children.push({ type: 'paragraph', children: linesOf(block) });
    } else if (last?.type === 'code') {
      last.value += `\n\n${block}`;
      // It begins where the fence was, behind an empty line.
      addRun(lines, { at: at - 1, line, height: 1 });
      at += lineEndsIn(block) + 1;
    } else {
      const value = block.replace(/\n+$/, '');
      children.push({ type: 'code', value });
      addRun(lines, { at: at + 1, line, height: 1 });
      at += lineEndsIn(value) + 3;
    }
    at += 1;
  }
}

/** Of a text as one block of code: its first line is the second one. */
export const LINES_OF_CODE: LineRun[] = [{ at: 2, line: 1, height: 1 }];

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
