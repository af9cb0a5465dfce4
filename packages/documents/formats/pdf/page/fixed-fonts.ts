import type { TextItem } from './placed-texts.ts';

/**
 * A font with this many texts and characters is monospaced if most texts have the same width per character, within a
 * tolerance. Texts that differ only in digits count once, because digits have one width in any font.
 */
const TEXTS_MIN = 3;
const CHARACTERS_MIN = 12;
const MOST = 0.9;
const SAME = 0.01;

/**
 * Returns the monospaced fonts of a page: by their flags, or, because some programs do not set them, if the width of
 * texts is proportional to their number of characters.
 */
export function fixedFonts(
  texts: readonly TextItem[],
  styles: Readonly<Record<string, { fontFamily: string }>>,
): Set<string> {
  const fonts = Map.groupBy(texts, ({ fontName }) => fontName);
  const isFixed = ([name, own]: [string, TextItem[]]) => styles[name]?.fontFamily === 'monospace' || areOfOneWidth(own);
  return new Set([...fonts].filter(isFixed).map(([name]) => name));
}

function areOfOneWidth(texts: readonly TextItem[]): boolean {
  const different = new Map(texts.map((text) => [text.str.replace(/\p{N}+/gu, ''), text]));
  const widths = [...different.values()].flatMap(({ str, width, transform: [, , c = 0, d = 0] }) => {
    const { length } = [...str];
    return length > 1 ? [{ length, width: width / length / (Math.hypot(c, d) || 1) }] : [];
  });
  const all = widths.reduce((sum, { length }) => sum + length, 0);
  const usual = widths.sort((a, b) => a.width - b.width)[widths.length >> 1]?.width ?? 0;
  const same = widths.filter(({ width }) => Math.abs(width - usual) <= SAME * usual);
  if (widths.length < TEXTS_MIN || all < CHARACTERS_MIN) return false;
  return same.reduce((sum, { length }) => sum + length, 0) >= MOST * all;
}
