/** The fields of a PDF.js text item that change here. */
interface Item {
  str: string;
  /** The matrix that places the text. The first two numbers are the direction of the line, scaled by the font size. */
  transform: number[];
  width: number;
}

/** Accents that fonts paint as separate characters, with the equivalent combining characters. */
const COMBINING: ReadonlyMap<string, string> = new Map([
  ['`', '\u0300'],
  ['\u00b4', '\u0301'],
  ['\u02c6', '\u0302'],
  ['^', '\u0302'],
  ['\u02dc', '\u0303'],
  ['~', '\u0303'],
  ['\u00af', '\u0304'],
  ['\u02d8', '\u0306'],
  ['\u02d9', '\u0307'],
  ['\u00a8', '\u0308'],
  ['\u02da', '\u030a'],
  ['\u02dd', '\u030b'],
  ['\u02c7', '\u030c'],
  ['\u00b8', '\u0327'],
  ['\u02db', '\u0328'],
]);

/**
 * Bounds of the overlap of an accent and its letter, in font sizes: the second starts this far before the end of the
 * first.
 */
const OVER_MIN = 0.2;
const OVER_MAX = 0.9;
/** How much higher the accents of capitals are set than the accents of small letters, in font sizes. */
const RISE_MAX = 0.4;

/**
 * Combines an accent with the letter that it is painted over, in place. Fonts without accented letters, such as TeX's
 * first fonts, need this: "vocˆe", where a step back follows the accent. Does not change words without an overlap, such
 * as "it´s".
 */
export function composeAccents(items: readonly Item[]): void {
  for (const [i, after] of items.entries()) {
    const before = items[i - 1];
    const over = before ? overlap(before, after) : 0;
    if (!before || over === 0) continue;
    const [last, first] = [before.str.at(-1) ?? '', after.str[0] ?? ''];
    const letter = composed(first, last);
    if (letter !== undefined) {
      before.str = before.str.slice(0, -1);
      before.width -= over;
      after.str = letter + after.str.slice(1);
      continue;
    }
    const under = composed(last, first);
    if (under === undefined) continue;
    before.str = before.str.slice(0, -1) + under;
    // The step back to the end of the accent looks like a space.
    after.str = after.str.slice(1).replace(/^ (?=\p{L})/u, '');
    cutBeginning(after, over);
  }
}

/** Moves the start of a text along its line. */
function cutBeginning(item: Item, by: number): void {
  const [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] = item.transform;
  const size = Math.hypot(a, b);
  item.transform = [a, b, c, d, x + (by * a) / size, y + (by * b) / size];
  item.width = Math.max(0, item.width - by);
}

/** Returns the letter with the accent; undefined if Unicode has no such character. */
function composed(letter: string, accent: string): string | undefined {
  const combining = COMBINING.get(accent);
  if (combining === undefined || !/^\p{L}$/u.test(letter)) return undefined;
  const whole = (letter === '\u0131' ? 'i' : letter === '\u0237' ? 'j' : letter) + combining;
  const normal = whole.normalize('NFC');
  return normal.length === 1 ? normal : undefined;
}

/**
 * Returns by how much a text overlaps the previous one if the overlap is as wide as an accent and both are on one line;
 * otherwise 0.
 */
function overlap(before: Item, after: Item): number {
  const [a = 0, b = 0, , , x = 0, y = 0] = before.transform;
  const [, , , , nextX = 0, nextY = 0] = after.transform;
  const size = Math.hypot(a, b);
  if (size === 0) return 0;
  const along = ((nextX - x) * a + (nextY - y) * b) / size;
  const across = ((nextY - y) * a - (nextX - x) * b) / size;
  const over = before.width - along;
  const isAccents = over > OVER_MIN * size && over < OVER_MAX * size && Math.abs(across) < RISE_MAX * size;
  return isAccents ? over : 0;
}
