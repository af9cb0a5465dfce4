import type { Line } from './page/lines.ts';
import { boxOf } from './page/lines.ts';
import type { PdfBlock, PlacedCode } from './pdf-block.ts';

/** The tolerance for equal font sizes and character widths in a block, as a share. */
const SAME = 0.04;

/** The largest distance between lines of a block, in font sizes; it allows a few empty lines. */
const APART = 5;
/** The limit of consecutive empty lines in the output. */
const EMPTY_MAX = 3;

/** Code of up to this many lines is a title if it is larger than the text by this factor. */
const TITLE_ROWS = 2;
const LARGER = 1.15;

/** A single line of code needs this multiple of the line distance around it. */
const ALONE = 1.2;

interface Around {
  /** The usual line distance. */
  leading: number;
  /** The font size of most lines that are not code; 0 without such lines. */
  usual: number;
  /** The x coordinate from which a line counts as full. */
  full: number;
}

/**
 * Returns the number of rows of the code block that starts at `from`; 0 if there is none, or if the code is a title or a
 * single line within other text.
 */
export function codeAt(rows: readonly Line[][], from: number, around: Around): number {
  const first = codeIn(rows[from]);
  if (!first) return 0;
  let count = 1;
  for (let next = codeIn(rows[from + count]); next && continuesCode(rows[from + count - 1], next); count += 1)
    next = codeIn(rows[from + count + 1]);
  if (count <= TITLE_ROWS && around.usual > 0 && first.size > LARGER * around.usual) return 0;
  return count > 1 || isDisplayed(rows, from, around) ? count : 0;
}

function codeIn(row: readonly Line[] | undefined): Line | undefined {
  const [line] = row ?? [];
  return row?.length === 1 && line?.code ? line : undefined;
}

function continuesCode([before]: readonly Line[] = [], line: Line): boolean {
  if (!before?.code || !line.code) return false;
  const isSame = (one: number, other: number) => Math.abs(one - other) <= SAME * Math.max(one, other);
  if (!isSame(before.code.pitch, line.code.pitch) || !isSame(before.size, line.size)) return false;
  const gap = before.y - line.y;
  return gap > 0 && gap < APART * line.size;
}

/** Whether a line of code is a block of its own, not part of a sentence or the term of a definition. */
function isDisplayed(rows: readonly Line[][], from: number, { leading, full }: Around): boolean {
  const [line] = rows[from] ?? [];
  if (!line || !/[^\p{L}\p{N}_.-]/u.test(line.words)) return false;
  const [above, below] = [rows[from - 1]?.[0], rows[from + 1]?.[0]];
  if (!above && !below) return false;
  const usual = ALONE * Math.max(leading, 1.05 * line.size);
  const isApart = (one: Line | undefined, other: Line | undefined) => !one || !other || one.y - other.y > usual;
  const isIndented = [above, below].every((other) => !other || line.x > other.x + 0.9 * line.size);
  // The line cannot continue a line that ended early.
  if (isIndented && above && (rows[from - 1]?.at(-1)?.right ?? 0) < full) return true;
  return isApart(above, line) && (isApart(line, below) || isIndented);
}

/** Makes a block of consecutive lines of code. */
export function codeBlock(lines: readonly Line[], page: number): PdfBlock {
  const code = lines.map((line): PlacedCode => ({ ...(line.code as NonNullable<Line['code']>), y: line.y }));
  const places = [{ page, ...boxOf(lines) }];
  return { kind: 'code', runs: [], rows: [], size: lines[0]?.size ?? 0, isFull: false, level: 0, places, code };
}

/**
 * Appends code at the top of a page or column to the code at the end of the previous one, in place, skipping footnotes.
 * Returns whether it did.
 */
export function continueCode(blocks: readonly PdfBlock[], next: PdfBlock, apart = APART): boolean {
  if (next.kind !== 'code') return false;
  const last = blocks.findLast(({ kind, size }) => kind !== 'text' || size >= 0.95 * next.size);
  const [before, after] = [last?.code?.at(-1), next.code?.[0]];
  if (last?.kind !== 'code' || !before || !after || !next.code) return false;
  const [end, start] = [last.places.at(-1), next.places[0]];
  if (!end || !start || start.page - end.page > 1) return false;
  // On the same page, code continues below or at the top of the next column.
  const gap = start.page === end.page ? end.bottom - start.top + next.size : Number.NaN;
  if (gap > apart * next.size || Math.abs(end.top - start.top) < next.size) return false;
  if (Math.abs(before.pitch - after.pitch) > SAME * before.pitch) return false;
  const offset = offsetOf(last.code ?? [], next.code);
  const [first, ...more] = next.code.map((line) => ({ ...line, x: line.x + offset }));
  // An empty line at a page break cannot be detected.
  if (first) last.code?.push({ ...first, y: gap > 0 ? first.y : Number.NaN }, ...more);
  last.places.push(...next.places);
  return true;
}

/** Returns the horizontal offset to align lines of another page, 0 if they are already on the same character grid. */
function offsetOf(code: readonly PlacedCode[], next: readonly PlacedCode[]): number {
  const [left, other] = [leftOf(code), leftOf(next)];
  const columns = (other - left) / (code[0]?.pitch ?? 1);
  return Math.abs(columns - Math.round(columns)) < 0.1 ? 0 : left - other;
}

function leftOf(code: readonly PlacedCode[]): number {
  return Math.min(...code.map(({ x }) => x));
}

/** Returns the text with indentation, empty lines and printed line numbers. */
export function codeText({ code = [] }: PdfBlock): string {
  const left = leftOf(code);
  const pitch = code[0]?.pitch ?? 1;
  const digits = Math.max(...code.map(({ number }) => number.length));
  const gaps = code.map(({ y }, i) => (code[i - 1]?.y ?? Number.NaN) - y).filter((gap) => gap > 0);
  const leading = Math.min(...gaps);
  return code
    .map(({ number, text, x, y }, i) => {
      const gap = (code[i - 1]?.y ?? Number.NaN) - y;
      const empty = gap > 1.4 * leading ? Math.min(Math.round(gap / leading) - 1, EMPTY_MAX) : 0;
      const indent = ' '.repeat(Math.max(0, Math.round((x - left) / pitch)));
      const start = digits > 0 ? `${number.padStart(digits)} ` : '';
      return '\n'.repeat(empty) + (start + indent + text).trimEnd();
    })
    .join('\n');
}
