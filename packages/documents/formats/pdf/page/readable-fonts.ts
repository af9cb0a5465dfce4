import { AnnotationMode, type PDFPageProxy } from 'unpdf/pdfjs';

/** Returns the fonts on a page whose character codes cannot be mapped to Unicode. */
export type UnreadableFonts = (
  page: PDFPageProxy,
  texts: readonly { str: string; fontName: string }[],
) => Promise<ReadonlySet<string>>;

/** A font as PDF.js describes it. */
interface Font {
  composite?: boolean;
  differences?: (string | undefined)[];
  /** Characters by code; without a map, each code stands for itself. */
  toUnicode?: { _map?: (string | undefined)[] };
}

/** The length of text to sample per font, in UTF-16 units. */
const SAMPLE = 500;

/** The limit of pages whose fonts are inspected, which takes longer than reading the pages. */
const PAGES_MAX = 4;

/**
 * Decides which fonts of a document are unreadable. If a font does not map its codes to characters, PDF.js uses the
 * codes as characters, which yields gibberish. Only fonts whose text looks like gibberish are inspected.
 */
export function unreadableFonts(): UnreadableFonts {
  const samples = new Map<string, string>();
  const decided = new Map<string, boolean>();
  let pages = 0;
  const decide = (name: string, isUnreadable: boolean) => {
    decided.set(name, isUnreadable);
    samples.delete(name);
  };
  return async (page, texts) => {
    for (const { str, fontName } of texts) {
      if (!decided.has(fontName)) samples.set(fontName, (samples.get(fontName) ?? '') + str);
    }
    const names = new Set(texts.map(({ fontName }) => fontName));
    const suspects: string[] = [];
    for (const name of names) {
      const sample = samples.get(name);
      if (sample === undefined) continue;
      if (isNumberedByUse(sample.slice(0, SAMPLE))) decide(name, true);
      else if (looksWrong(sample.slice(0, SAMPLE))) suspects.push(name);
      else if (sample.length >= SAMPLE) decide(name, false);
    }
    if (suspects.length > 0 && pages < PAGES_MAX) {
      pages += 1;
      await page.getOperatorList({ annotationMode: AnnotationMode.DISABLE });
      for (const name of suspects) {
        const font = page.commonObjs.has(name) ? (page.commonObjs.get(name) as Font) : undefined;
        decide(name, font !== undefined && isWithoutUnicode(font));
      }
    }
    return new Set([...names].filter((name) => decided.get(name)));
  };
}

/** Whether a text resembles no language: mostly signs, hardly any vowels, or letters of many scripts. */
function looksWrong(text: string): boolean {
  const written = text.replace(/\s+/g, '');
  if (written.length < 8) return false;
  // Dots are excluded because a table of contents has leaders.
  const signs = written.replace(/[^!-\-/:-@[-`{-~\p{Co}\p{Cn}\p{Cc}\ufffd]+/gu, '').length;
  if (signs > 0.4 * written.length) return true;
  const latin = written.replace(/[^a-z]+/gi, '');
  const vowels = latin.replace(/[^aeiouy]+/gi, '').length;
  // Shifted codes turn small letters into capitals.
  const usual = latin === latin.toUpperCase() ? 0.32 : 0.2;
  if (latin.length >= 12 && vowels < usual * latin.length) return true;
  const rare = written.replace(/[^\u0080-\u024f\u0250-\u036f\p{Co}\p{Cn}\p{Cc}\ufffd]+/gu, '').length;
  return rare > 0.3 * written.length;
}

/** Whether new characters appear in sequence from "!" on: some programs number the glyphs of a font in order of use. */
function isNumberedByUse(text: string): boolean {
  const used = [...new Set(text.replace(/\s+/g, ''))];
  return used.length >= 6 && used.every((character, i) => character.codePointAt(0) === 33 + i);
}

/** Whether the characters of a font were only guessed from its codes. */
function isWithoutUnicode({ composite, differences, toUnicode }: Font): boolean {
  const map = toUnicode?._map;
  if (composite) return map === undefined;
  const named = (differences ?? []).flatMap((name, code) => (name === undefined ? [] : [{ name, code }]));
  // Glyphs whose name is a number that equals the mapped code.
  const guessed = named.filter(
    ({ name, code }) =>
      /^[a-z]{0,5}[-_.]?\d+$/i.test(name) && (map?.[code] ?? '').codePointAt(0) === Number(/\d+$/.exec(name)?.[0]),
  );
  return named.length > 0 && guessed.length > 0.5 * named.length;
}
