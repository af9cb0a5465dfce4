import type { Line } from './hidden-lines.ts';
import { LineScan } from './line-scan.ts';
import { type Edit, FILLER, type Mask, SLASH } from './mask.ts';
import { ProseScan } from './prose-scan.ts';

const HAS_DIALECT =
  /^ {0,3}:[ \t]|%%|\{%|\s=(?:\d{1,4}x|x\d)|:::|!!!|\?\?\?|={3}[!+]? +"|\{\/\*|\{\{[<%]\s*(?:rel)?ref\s|^[ \t]*\{\{[<%]|^(?:import|export)\s|<\/?[A-Z]|=\{|<\/?>|<[a-zA-Z][^<>\n]{0,200}=[^\s"'<>=]{0,200}\//m;
const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\r?\n(?:[\s\S]*?\n)?\1[ \t]*(?:\r?\n|$)/;

/**
 * How to write the text so that CommonMark does not misread its dialects: in other words of the same length and with the same lines, so
 * that every place in the tree is one in the text. Comments and code of MDX are blank, heads of boxes are blocks of their own. Lines alone
 * do not tell what is code, so that the tree has to be asked afterwards (`Reading`). Undefined for a text without dialects. Linear in the
 * length of the text.
 */
export function maskOf(markdown: string, isBox: (word: string) => boolean): Mask | undefined {
  if (!HAS_DIALECT.test(markdown) || markdown.includes(FILLER) || markdown.includes(SLASH)) return undefined;
  /** The names of closing tags: `<Type>` without one is text. */
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
