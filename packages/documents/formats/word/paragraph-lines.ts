import { addRun, type LineRun } from '../../source-lines.ts';
import { decodeXml } from './xml-tree.ts';

/** The start or end tag of a paragraph, or a text in it. */
const TOKENS = /<(\/?)w:p(?:\s[^<>]*?)?(\/?)>|<w:t(?:\s[^<>]*)?>([^<]*)</g;

/** Fallback content for older programs, which repeats the text before it. */
const FALLBACKS = /<mc:Fallback>.*?<\/mc:Fallback>/gs;

/** The number of letters and digits, such as notes and list numbers, that Markdown may add between two paragraphs. */
const GAP_MAX = 200;

/** A shorter paragraph could match anywhere, so it is only searched for NEAR letters after the previous paragraph. */
const CERTAIN_LENGTH = 8;
const NEAR = 12;

/**
 * Returns the texts of a document's paragraphs in order of their beginning, including paragraphs in tables and text
 * boxes and empty ones.
 */
export function paragraphsOf(xml: string): string[] {
  const paragraphs: string[] = [];
  const open: number[] = [];
  for (const [, end, empty, text] of xml.replace(FALLBACKS, '').matchAll(TOKENS)) {
    const last = open.at(-1);
    if (text !== undefined) {
      if (last !== undefined) paragraphs[last] += decodeXml(text);
    } else if (end) open.pop();
    else {
      paragraphs.push('');
      if (!empty) open.push(paragraphs.length - 1);
    }
  }
  return paragraphs;
}

/**
 * Maps the lines of a document's Markdown to paragraphs, counted from 1. Lines without a matching paragraph, such as
 * notes and equations, stay unmapped. Compares letters and digits only, in the order of both texts.
 */
export function linesOfParagraphs(markdown: string, paragraphs: readonly string[]): LineRun[] {
  const { letters, lines } = lettersOf(markdown);
  const first = new Map<number, number>();
  const last = new Map<number, number>();
  let [from, room] = [0, GAP_MAX];
  for (const [i, paragraph] of paragraphs.entries()) {
    const key = keyOf(paragraph);
    if (key === '') continue;
    const gap = key.length < CERTAIN_LENGTH ? Math.min(NEAR, room) : room;
    const at = letters.slice(from, from + gap + key.length).indexOf(key);
    if (at < 0) {
      room += 2 * key.length;
      continue;
    }
    const [begin, end] = [from + at, from + at + key.length];
    for (const line of new Set([lines[begin], lines[end - 1]])) {
      if (line === undefined) continue;
      if (!first.has(line)) first.set(line, i + 1);
      last.set(line, i + 1);
    }
    [from, room] = [end, GAP_MAX];
  }
  const runs: LineRun[] = [];
  for (let at = 1; at <= (lines.at(-1) ?? 0); at += 1) {
    const line = first.get(at) ?? 0;
    addRun(runs, { at, line, height: line === 0 ? 1 : (last.get(at) ?? line) - line + 1 });
  }
  return runs;
}

/** Returns the letters and digits of a text, and the line of each, counted from 1. */
function lettersOf(markdown: string): { letters: string; lines: number[] } {
  const lines: number[] = [];
  let letters = '';
  for (const [i, line] of markdown.split('\n').entries()) {
    // Link addresses, note marks, character references and tags are not text.
    const key = keyOf(line.replace(/\]\([^()\s]*\)|\[\^[^\]]*\]|&#x?[\da-f]+;|<[^<>]*>/gi, ' '));
    letters += key;
    for (let k = 0; k < key.length; k += 1) lines.push(i + 1);
  }
  return { letters, lines };
}

function keyOf(text: string): string {
  return text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '');
}
