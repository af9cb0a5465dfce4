import { codeBlock, continueCode } from './code-blocks.ts';
import { rowsDown } from './columns.ts';
import type { Line } from './page/lines.ts';
import type { PdfBlock } from './pdf-block.ts';

/** The largest distance to the line above for code whose lines are separate elements, in font sizes. */
const NEXT_LINE = 1.9;

/** Consecutive lines of an element of a tagged PDF that are all text or all code. */
export interface Segment {
  lines: Line[];
  isCode: boolean;
}

/** The number of lines up to which code at the start of an item counts as words. */
const ITEM_LINES = 2;

/**
 * Splits the lines of an element where code begins and ends. Two or more lines of code are a segment; a single line is
 * only if it is the whole element and more than a word. `isItem`: an item is often the name of a function or a value.
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

/** Merges single lines of code into the text around them. */
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

/** Adds a code block for a segment, joined in place to the code directly above if each line is a separate element. */
export function addTaggedCode(blocks: PdfBlock[], lines: readonly Line[], page: number): void {
  const block = codeBlock(lines, page);
  if (!continueCode(blocks.slice(-1), block, NEXT_LINE)) blocks.push(block);
}
