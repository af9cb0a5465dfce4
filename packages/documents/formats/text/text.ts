import { lineEndsIn } from '@ibid/markdown/plain-text.ts';
import type { Code, Paragraph, PhrasingContent, Root } from 'mdast';
import { addRun, type LineRun } from '../../source-lines.ts';
import { fencedCode } from '../fenced-code.ts';
import { markdownWriter } from '../markdown-writer.ts';

const writer = markdownWriter();

/**
 * Escaping scans every character many times. A longer text, in UTF-16 units, is data or a log and better shown as code.
 */
const PROSE_MAX = 256 * 1024;

/** Longer paragraphs, in UTF-16 units, are lines of data, which take Markdown long to parse. */
const PARAGRAPH_MAX = 20_000;

const ADDRESS = /https?:\/\/[^\s<>"'`(){}[\]\\^|]*[^\s<>"'`(){}[\]\\^|.,;:!?*_~]/g;

/**
 * Converts plain text to Markdown that shows the same text. Prose becomes escaped paragraphs with line breaks. Text
 * where spaces matter (indented lines, columns) becomes code, the only form in which Markdown keeps them. `lines` maps
 * lines of the Markdown to lines of the text.
 */
export function textToMarkdown(text: string): { markdown: string; lines: LineRun[] } {
  if (text.length > PROSE_MAX) return longTextToMarkdown(text);
  const children: (Paragraph | Code)[] = [];
  const lines: LineRun[] = [];
  /** The line of the Markdown at which the next block would start, after an empty line. */
  let at = 1;
  /** The line of the text at which the current block starts. */
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
      // The block starts at the line of the fence, after an empty line.
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

/** Longer lines, in UTF-16 units, are split, because a page could not hold the longest. */
const LINE_MAX = 50_000;

/** Writes a long text as one code block, in lines that a page can hold. */
export function longTextToMarkdown(text: string): { markdown: string; lines: LineRun[] } {
  const lines: LineRun[] = [];
  const shown: string[] = [];
  for (const [i, line] of text.replace(/\n*$/, '').split('\n').entries()) {
    for (const piece of line.length <= LINE_MAX ? [line] : piecesOf(line)) {
      // Line 1 is the fence.
      addRun(lines, { at: shown.length + 2, line: i + 1, height: 1 });
      shown.push(piece);
    }
  }
  return { markdown: textAsCode(shown.join('\n')), lines };
}

function* piecesOf(line: string): Generator<string> {
  for (let from = 0; from < line.length; ) {
    const most = line.slice(from, from + LINE_MAX);
    const space = from + LINE_MAX < line.length ? most.lastIndexOf(' ') : -1;
    const piece = space > 0 ? most.slice(0, space + 1) : most.replace(/(?<=.)[\ud800-\udbff]$/s, '');
    yield piece;
    from += piece.length;
  }
}

export function textAsCode(text: string): string {
  return `${fencedCode(text)}\n`;
}

/**
 * Whether spaces matter in a block. An indented first line starts a paragraph, and two spaces after a full stop are a
 * habit.
 */
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
    content.push(...withAddresses(line.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')));
  }
  return content;
}

/** Writes addresses as autolinks, <https://…>, because an escaped address would be unreadable. */
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
