import { AnnotationMode, type PDFPageProxy } from 'unpdf/pdfjs';

/** Names the fonts on a page whose codes say nothing about which characters they show. */
export type UnreadableFonts = (
  page: PDFPageProxy,
  texts: readonly { str: string; fontName: string }[],
) => Promise<ReadonlySet<string>>;

/** A font as the library describes it. */
interface Font {
  composite?: boolean;
  differences?: (string | undefined)[];
  /** Characters by code; without them every code stands for itself. */
  toUnicode?: { _map?: (string | undefined)[] };
}

/** How much of a font's text is looked at, in UTF-16 units. */
const SAMPLE = 500;

/** The limit of pages whose fonts are looked into: it takes longer than reading them. */
const PAGES_MAX = 4;

/**
 * Decides about the fonts of a document. Where a font does not say which characters its codes stand for, the library
 * takes the codes for characters, which gives a text of signs. What looks like one is looked into.
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

/** Whether a text is unlike that of any language: mostly signs, no vowels, letters of many scripts. */
function looksWrong(text: string): boolean {
  const written = text.replace(/\s+/g, '');
  if (written.length < 8) return false;
  // Leaders of a table of contents are dots.
  const signs = written.replace(/[^!-\-/:-@[-`{-~\p{Co}\p{Cn}\p{Cc}\ufffd]+/gu, '').length;
  if (signs > 0.4 * written.length) return true;
  const latin = written.replace(/[^a-z]+/gi, '');
  const vowels = latin.replace(/[^aeiouy]+/gi, '').length;
  // Codes that are shifted make capitals of small letters.
  const usual = latin === latin.toUpperCase() ? 0.32 : 0.2;
  if (latin.length >= 12 && vowels < usual * latin.length) return true;
  const rare = written.replace(/[^\u0080-\u024f\u0250-\u036f\p{Co}\p{Cn}\p{Cc}\ufffd]+/gu, '').length;
  return rare > 0.3 * written.length;
}

/** Whether each new character is the next one from "!" on: some programs number the glyphs of a font as they use them. */
function isNumberedByUse(text: string): boolean {
  const used = [...new Set(text.replace(/\s+/g, ''))];
  return used.length >= 6 && used.every((character, i) => character.codePointAt(0) === 33 + i);
}

/** Whether characters were only guessed from codes. */
function isWithoutUnicode({ composite, differences, toUnicode }: Font): boolean {
  const map = toUnicode?._map;
  if (composite) return map === undefined;
  const named = (differences ?? []).flatMap((name, code) => (name === undefined ? [] : [{ name, code }]));
  // Names that are numbers, and codes that stand for themselves.
  const guessed = named.filter(
    ({ name, code }) =>
      /^[a-z]{0,5}[-_.]?\d+$/i.test(name) && (map?.[code] ?? '').codePointAt(0) === Number(/\d+$/.exec(name)?.[0]),
  );
  return named.length > 0 && guessed.length > 0.5 * named.length;
}
