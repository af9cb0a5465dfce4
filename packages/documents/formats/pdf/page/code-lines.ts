import type { PlacedText } from './placed-texts.ts';

/** A line in type whose characters are all equally wide; lengths in points. */
export interface CodeLine {
  /** The number of the line, if it is printed in front of it; "" without one. */
  number: string;
  /** The text, with the spaces that its gaps stand for. */
  text: string;
  x: number;
  /** The width of a character. */
  pitch: number;
  size: number;
  /** The name of the font of most of it. */
  font: string;
}

/** The width of a character, in sizes of its font: those of Chinese and Japanese, which all fonts have of one width, are wider. */
const PITCH_MIN = 0.4;
const PITCH_MAX = 0.75;

/** Signs from other fonts, such as arrows, are this share of a line at most. */
const OTHERS = 0.25;

/** What a line of one font of equal widths is as a line of code; undefined if it has words in another font. */
export function codeLineOf(parts: readonly PlacedText[]): CodeLine | undefined {
  const number = numberOf(parts);
  const own = number === '' ? parts : parts.slice(1);
  const [first] = own;
  const fixed = own.filter(({ fixedFont }) => fixedFont !== undefined);
  if (first?.fixedFont === undefined) return undefined;
  const others = own.filter(({ fixedFont }) => fixedFont === undefined);
  const lengthOf = (texts: readonly PlacedText[]) => texts.reduce((sum, { text }) => sum + text.length, 0);
  if (others.some(({ text }) => /[\p{L}\p{N}]/u.test(text)) || lengthOf(others) > OTHERS * lengthOf(own))
    return undefined;
  const longest = fixed.reduce((most, part) => (part.text.length > most.text.length ? part : most), first);
  const pitch = longest.width / longest.text.length;
  if (pitch < PITCH_MIN * longest.size || pitch > PITCH_MAX * longest.size) return undefined;
  const font = longest.fixedFont ?? first.fixedFont;
  return {
    number,
    ...onGrid(
      own.map(({ text, x, width }) => ({ text, x, right: x + width })),
      pitch,
    ),
    pitch,
    size: longest.size,
    font,
  };
}

/** The number in front of a line, which is smaller or in another font. */
function numberOf([first, second]: readonly PlacedText[]): string {
  if (!first || !second || !/^\s*\d{1,5}\s*$/.test(first.text)) return '';
  return first.fixedFont === undefined || first.size < 0.95 * second.size ? first.text.trim() : '';
}

/** Texts of a line with as many spaces between them as their gaps are wide. */
export function onGrid(
  parts: readonly { text: string; x: number; right: number }[],
  pitch: number,
): { text: string; x: number } {
  let text = '';
  let right = 0;
  for (const [i, part] of parts.entries()) {
    const spaces = i === 0 ? 0 : Math.round((part.x - right) / pitch);
    text += ' '.repeat(Math.min(Math.max(spaces, 0), SPACES_MAX)) + part.text;
    right = part.right;
  }
  const start = text.length - text.trimStart().length;
  return { text: text.trim(), x: (parts[0]?.x ?? 0) + start * pitch };
}

/** A line that is longer is no code. */
const SPACES_MAX = 200;
