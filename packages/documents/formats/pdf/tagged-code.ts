import { codeBlock, continueCode } from './code-blocks.ts';
import { rowsDown } from './columns.ts';
import type { Line } from './page/lines.ts';
import type { PdfBlock } from './pdf-block.ts';

/** The distance of a line that is an element of its own to the one above, in sizes. */
const NEXT_LINE = 1.9;

/** The lines of an element of a tagged PDF: those of text, and those that are code in one piece. */
export interface Segment {
  lines: Line[];
  isCode: boolean;
}

/** An item of a list begins with code of more lines than this, or it is words in such type. */
const ITEM_LINES = 2;

/**
 * The lines of an element, divided where code begins and ends. Two or more lines that are code are some; one line is if it
 * is all of its element and more than a word. `isItem`: an item of a list is often the name of a function or a value.
 */
export function segmentsOf(lines: readonly Line[], isItem: boolean): Segment[] {
  if (!lines.some(({ code }) => code)) return [{ lines: [...lines], isCode: false }];
  const segments: Segment[] = [];
  for (const row of rowsDown(lines)) {
    const isCode = row.length === 1 && row[0]?.code !== undefined;
    const last = segments.at(-1);
    if (last?.isCode === isCode) last.lines.push(...row);
    else segments.push({ lines: row, isCode });
  }
  const [first] = segments;
  if (isItem && first)
    return joined([{ ...first, isCode: first.isCode && first.lines.length > ITEM_LINES }, ...segments.slice(1)]);
  const isAlone = segments.length === 1 && /[^\p{L}\p{N}_.-]/u.test(lines[0]?.words ?? '');
  if (isAlone || !segments.some((each) => each.isCode && each.lines.length < 2)) return segments;
  return segments.every(({ isCode, lines: own }) => !isCode || own.length < 2)
    ? [{ lines: [...lines], isCode: false }]
    : joined(segments);
}

/** A single line of code within text is part of it. */
function joined(segments: readonly Segment[]): Segment[] {
  const result: Segment[] = [];
  for (const { lines, isCode: mayBeCode } of segments) {
    const isCode = mayBeCode && lines.length > 1;
    const last = result.at(-1);
    if (last?.isCode === isCode) last.lines.push(...lines);
    else result.push({ lines: [...lines], isCode });
  }
  return result;
}

/** The block of code of a segment; joined, in place, to the code right above it if each line is an element of its own. */
export function addTaggedCode(blocks: PdfBlock[], lines: readonly Line[], page: number): void {
  const block = codeBlock(lines, page);
  if (!continueCode(blocks.slice(-1), block, NEXT_LINE)) blocks.push(block);
}
