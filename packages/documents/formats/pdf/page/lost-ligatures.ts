import { AnnotationMode, OPS, type PDFDocumentProxy, type PDFPageProxy } from 'unpdf/pdfjs';

/** A text of the library, as far as it is changed. */
interface Item {
  str: string;
  transform: number[];
  width: number;
}

interface Glyph {
  originalCharCode: number;
  unicode: string;
  width: number;
  isSpace: boolean;
}

/**
 * Knuth's text fonts have ligatures at the codes of white space. Ghostscript and dvipdfmx name in a font's ToUnicode only the
 * characters that have no usual name, so that the library takes these codes for what they are in ASCII: "find" is " nd".
 */
const LIGATURES: ReadonlyMap<number, string> = new Map([
  [11, 'ff'],
  [12, 'fi'],
  [13, 'fl'],
]);
const TEXT_FONT = /^(?:[A-Z]{6}\+)?CM(?:B|BX|BXSL|BXTI|R|SL|SS|SSBX|SSI|TI|U)\d+$/;
const PRODUCERS = /dvipdfm|ghostscript/i;

/** Pages whose fonts are looked into before it is decided that a document has none: it takes as long as reading them. */
const PAGES_TRIED = 3;

/** A move to the right by this share of a thousandth of the font's size is a space. */
const SPACE = -180;

/** Puts the ligatures that the library took for white space into the texts of a page, in place. */
export type RestoreLigatures = (page: PDFPageProxy, items: readonly Item[]) => Promise<void>;

/** Undefined for a document whose program writes fonts that say what all of their characters are. */
export async function ligatureRestorer(document: PDFDocumentProxy): Promise<RestoreLigatures | undefined> {
  const { info } = await document.getMetadata().catch(() => ({ info: {} }));
  if (!PRODUCERS.test(String((info as { Producer?: unknown }).Producer))) return undefined;
  let tried = 0;
  let found = false;
  return async (page, items) => {
    if (!found && tried >= PAGES_TRIED) return;
    tried += 1;
    const { glyphs, mayBeLost } = await glyphsOf(page);
    found ||= mayBeLost;
    if (glyphs.some(({ ligature }) => ligature)) restore(items, glyphs);
  };
}

/** What a page shows, in order, without white space. */
interface Shown {
  text: string;
  ligature: boolean;
  /** In thousandths of the font's size. */
  width: number;
  spaceBefore: boolean;
  spaceAfter: boolean;
}

/** What a page shows, and whether a font of it has ligatures that are lost: on other pages if not on this one. */
async function glyphsOf(page: PDFPageProxy): Promise<{ glyphs: Shown[]; mayBeLost: boolean }> {
  const { fnArray, argsArray } = await page.getOperatorList({ annotationMode: AnnotationMode.DISABLE });
  const shown: Shown[] = [];
  let isText = false;
  let mayBeLost = false;
  for (const [i, operator] of fnArray.entries()) {
    if (operator === OPS.setFont) {
      const font = textFont(page, String(argsArray[i]?.[0]));
      isText = font !== undefined;
      mayBeLost ||= font !== undefined && hasLostLigature(font);
    }
    if (operator !== OPS.showText) continue;
    const glyphs = argsArray[i]?.[0] as (Glyph | number)[];
    for (const [k, glyph] of glyphs.entries()) {
      if (typeof glyph === 'number') continue;
      const ligature = isText && !glyph.isSpace ? LIGATURES.get(glyph.originalCharCode) : undefined;
      const isLost = ligature !== undefined && glyph.unicode.trim() === '';
      const text = isLost ? ligature : glyph.unicode.normalize('NFKC').replace(/\s+/g, '');
      if (text === '') continue;
      const spaceBefore = isGap(glyphs[k - 1]);
      shown.push({ text, ligature: isLost, width: glyph.width, spaceBefore, spaceAfter: isGap(glyphs[k + 1]) });
    }
  }
  return { glyphs: shown, mayBeLost };
}

/** A font as the library describes it: the widths of its glyphs by code, 0 for those that it lacks, and characters. */
interface TextFont {
  name?: string;
  widths?: (number | undefined)[];
  toUnicode?: { _map?: (string | undefined)[] };
}

function textFont(page: PDFPageProxy, id: string): TextFont | undefined {
  const font = page.commonObjs.has(id) ? (page.commonObjs.get(id) as TextFont) : undefined;
  return font && TEXT_FONT.test(String(font.name)) ? font : undefined;
}

function hasLostLigature({ widths, toUnicode }: TextFont): boolean {
  return [...LIGATURES.keys()].some(
    (code) => (widths?.[code] ?? 0) > 0 && (toUnicode?._map?.[code] ?? '').trim() === '',
  );
}

/** Whether there is a space between a glyph and what is beside it in the same operator; behind its ends there is. */
function isGap(beside: Glyph | number | undefined): boolean {
  return typeof beside === 'number' ? beside < SPACE : beside === undefined || beside.isSpace;
}

/** Where a character of a page's texts is. */
interface Position {
  item: number;
  at: number;
}

/** Both have the same characters in the same order; where they do not, the texts stay as they are. */
function restore(items: readonly Item[], glyphs: readonly Shown[]): void {
  const positions = items.flatMap(({ str }, item): Position[] =>
    [...str.matchAll(/\S/g)].map(({ index }) => ({ item, at: index })),
  );
  const characters = positions.map(({ item, at }) => items[item]?.str[at]).join('');
  const known = glyphs.filter(({ ligature }) => !ligature).map(({ text }) => text);
  if (known.join('') !== characters.normalize('NFKC') || known.join('').length !== positions.length) return;
  // From the end on, so that positions stay right.
  let next = positions.length;
  for (const glyph of glyphs.toReversed()) {
    if (glyph.ligature) insert(items, glyph, positions[next - 1], positions[next]);
    else next -= glyph.text.length;
  }
}

function insert(items: readonly Item[], glyph: Shown, before: Position | undefined, after: Position | undefined): void {
  const { text, width, spaceBefore, spaceAfter } = glyph;
  const [one, other] = [items[before?.item ?? -1], items[after?.item ?? -1]];
  if (one && one === other && before && after) {
    const between = `${spaceBefore ? ' ' : ''}${text}${spaceAfter ? ' ' : ''}`;
    one.str = one.str.slice(0, before.at + 1) + between + one.str.slice(after.at);
  } else if (other && after && !spaceAfter) {
    const [a = 0, b = 0] = other.transform;
    other.str = text + other.str.slice(after.at);
    other.width += (width / 1_000) * Math.hypot(a, b);
    other.transform[4] = (other.transform[4] ?? 0) - (width / 1_000) * a;
    other.transform[5] = (other.transform[5] ?? 0) - (width / 1_000) * b;
  } else if (one && before) {
    one.str = one.str.slice(0, before.at + 1) + (spaceBefore ? ' ' : '') + text;
    one.width += (width / 1_000) * Math.hypot(one.transform[0] ?? 0, one.transform[1] ?? 0);
  }
}
