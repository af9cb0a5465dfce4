import { Fences } from './fences.ts';

/** A line of `$$` alone, after the markers of quotes and items. */
const OPENING = /^((?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*[ \t]*)\$\$[ \t\r]*$/;
const ENDING = /^[ \t]*\$\$[^$]*$/;
const QUOTES = /^(?:[ \t]{0,3}>)*/;

interface Opening {
  line: number;
  quotes: number;
  /** Indentation below which the formula's list item ends; 0 outside of items. */
  indent: number;
}

/**
 * Returns the lines, counted from 1, that begin a formula which is closed. The parser reads formulas line by line and
 * cannot backtrack: an unclosed formula would swallow the rest of the page. Reads the text once.
 */
export function formulaLines(markdown: string): Set<number> {
  const found = new Set<number>();
  if (!markdown.includes('$$')) return found;
  const fences = new Fences();
  let open: Opening | undefined;
  for (const [i, line] of markdown.split(/\r\n|\r|\n/).entries()) {
    if (open && isBehind(line, open)) open = undefined;
    if (!open) {
      const before = fences.takes(line) ? undefined : OPENING.exec(line)?.[1];
      if (before !== undefined) open = { line: i + 1, quotes: before.split('>').length - 1, indent: indentOf(before) };
    } else if (ENDING.test(line.slice(quotesOf(line, open.quotes).length))) {
      found.add(open.line);
      open = undefined;
    }
  }
  return found;
}

/** Tells whether the formula's quote or item ended before a line. */
function isBehind(line: string, { quotes, indent }: Opening): boolean {
  if (quotes > 0) return quotesOf(line, quotes).split('>').length - 1 < quotes;
  return indent > 0 && line.trim() !== '' && line.search(/\S/) < indent;
}

function quotesOf(line: string, quotes: number): string {
  return quotes === 0 ? '' : (QUOTES.exec(line)?.[0] ?? '');
}

function indentOf(before: string): number {
  return /[^\s>]/.test(before) && !before.includes('>') ? before.length : 0;
}
