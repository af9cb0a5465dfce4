import type { Line } from './hidden-lines.ts';
import { LineScan } from './line-scan.ts';
import { type Edit, FILLER, type Mask, SLASH } from './mask.ts';
import { ProseScan } from './prose-scan.ts';

const HAS_DIALECT =
  /^ {0,3}:[ \t]|%%|\{%|\s=(?:\d{1,4}x|x\d)|:::|!!!|\?\?\?|={3}[!+]? +"|\{\/\*|\{\{[<%]\s*(?:rel)?ref\s|^[ \t]*\{\{[<%]|^(?:import|export)\s|<\/?[A-Z]|=\{|<\/?>|<[a-zA-Z][^<>\n]{0,200}=[^\s"'<>=]{0,200}\//m;
const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\r?\n(?:[\s\S]*?\n)?\1[ \t]*(?:\r?\n|$)/;

/**
 * Returns the edits that keep CommonMark from misreading dialects; undefined if there are none, or if the text contains
 * a filler character. Edits keep the length and the lines of the text, so that positions in the tree are positions in
 * the text. Lines of comments or MDX code become blank, comments within a line become fillers, and heads of boxes
 * become list items or rules. Lines alone do not show where code is, so `Reading` checks the edits against the tree
 * afterwards. Linear in the length of the text.
 */
export function maskOf(markdown: string, isBox: (word: string) => boolean): Mask | undefined {
  if (!HAS_DIALECT.test(markdown) || markdown.includes(FILLER) || markdown.includes(SLASH)) return undefined;
  /** The names of closing tags: `<Type>` without a closing tag is text. */
  const closed = new Set([...markdown.matchAll(/<\/([\w.]+)/g)].map(([, name = '']) => name));
  const scan = new LineScan(isBox, closed);
  scan.readLines(linesOf(markdown), FRONT_MATTER.exec(markdown)?.[0].length ?? 0);
  const prose = new ProseScan(scan.edits, scan.hidden, closed);
  for (const [start, end] of scan.prose) prose.read(markdown.slice(start, end), start);
  const edits = withoutOverlaps(scan.edits);
  return edits.length === 0 ? undefined : { edits, boxes: scan.boxes, hidden: scan.hidden };
}

function withoutOverlaps(edits: Edit[]): Edit[] {
  let from = 0;
  return edits
    .sort((a, b) => a.start - b.start)
    .filter(({ start, text }) => {
      if (start < from) return false;
      from = start + text.length;
      return true;
    });
}

function linesOf(markdown: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < markdown.length; ) {
    const next = markdown.indexOf('\n', start);
    const end = next < 0 ? markdown.length : next;
    lines.push({ start, text: markdown.slice(start, end) });
    start = end + 1;
  }
  return lines;
}
