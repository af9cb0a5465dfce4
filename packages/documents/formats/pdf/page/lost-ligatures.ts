import { AnnotationMode, OPS, type PDFDocumentProxy, type PDFPageProxy } from 'unpdf/pdfjs';

/** The fields of a PDF.js text item that change here. */
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
 * Knuth's text fonts have ligatures at the codes of white space. Ghostscript and dvipdfmx list only characters without
 * a standard name in a font's ToUnicode map. PDF.js therefore reads the ligature codes as ASCII: "find" becomes " nd".
 */
const LIGATURES: ReadonlyMap<number, string> = new Map([
  [11, 'ff'],
  [12, 'fi'],
  [13, 'fl'],
]);
const TEXT_FONT = /^(?:[A-Z]{6}\+)?CM(?:B|BX|BXSL|BXTI|R|SL|SS|SSBX|SSI|TI|U)\d+$/;
const PRODUCERS = /dvipdfm|ghostscript/i;

/**
 * The number of pages to inspect before assuming that a document has no lost ligatures; inspecting fonts takes as long
 * as reading a page.
 */
const PAGES_TRIED = 3;

/** A move to the right of this size, in thousandths of the font size, is a space. */
const SPACE = -180;

/** Inserts the ligatures that PDF.js read as white space into the texts of a page, in place. */
export type RestoreLigatures = (page: PDFPageProxy, items: readonly Item[]) => Promise<void>;

/** Returns undefined if the program that made the document writes complete ToUnicode maps. */
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

/** A shown glyph; white space is skipped. */
interface Shown {
  text: string;
  ligature: boolean;
  /** In thousandths of the font size. */
  width: number;
  spaceBefore: boolean;
  spaceAfter: boolean;
}

/**
 * Reads the glyphs of a page in order, and whether any font on it has lost ligatures, even if only other pages use them.
 */
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

/** A font as PDF.js describes it: the widths of its glyphs by code, 0 if missing, and their characters. */
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

/**
 * Whether a space separates a glyph from its neighbour in the same operator; the ends of an operator count as spaces.
 */
function isGap(beside: Glyph | number | undefined): boolean {
  return typeof beside === 'number' ? beside < SPACE : beside === undefined || beside.isSpace;
}

/** The position of a character in the texts of a page. */
interface Position {
  item: number;
  at: number;
}

/** Inserts lost ligatures if glyphs and texts have the same characters in the same order; otherwise changes nothing. */
function restore(items: readonly Item[], glyphs: readonly Shown[]): void {
  const positions = items.flatMap(({ str }, item): Position[] =>
    [...str.matchAll(/\S/g)].map(({ index }) => ({ item, at: index })),
  );
  const characters = positions.map(({ item, at }) => items[item]?.str[at]).join('');
  const known = glyphs.filter(({ ligature }) => !ligature).map(({ text }) => text);
  if (known.join('') !== characters.normalize('NFKC') || known.join('').length !== positions.length) return;
  // Iterate backwards, so that earlier positions stay valid.
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
