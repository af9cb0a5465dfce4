import type { PlacedText } from './placed-texts.ts';

/** A line in a monospaced font; lengths in points. */
export interface CodeLine {
  /** The line number printed in front of the line; "" without one. */
  number: string;
  /** The text, with gaps converted to spaces. */
  text: string;
  x: number;
  /** The width of a character. */
  pitch: number;
  size: number;
  /** The font of most of the line. */
  font: string;
}

/**
 * Bounds of the width of a character, in font sizes. Chinese and Japanese characters, which have one width in every
 * font, are wider.
 */
const PITCH_MIN = 0.4;
const PITCH_MAX = 0.75;

/** The largest share of a line in other fonts, for signs such as arrows. */
const OTHERS = 0.25;

/** Reads a line as code; undefined if it is not monospaced or has words in another font. */
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

/** Returns the line number in front of a line, which is smaller or in another font; "" without one. */
function numberOf([first, second]: readonly PlacedText[]): string {
  if (!first || !second || !/^\s*\d{1,5}\s*$/.test(first.text)) return '';
  return first.fixedFont === undefined || first.size < 0.95 * second.size ? first.text.trim() : '';
}

/** Joins the texts of a line, with gaps converted to spaces. */
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

/** The limit of spaces in one gap; code has no wider gaps. */
const SPACES_MAX = 200;
