/** Letters in their printed shape: Arabic and Hebrew presentation forms, Armenian ligatures. */
const PRESENTATION_FORMS = /[\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]+/g;

/** Codes of the Symbol and Wingdings fonts that Word uses for list bullets. */
const SYMBOLS: Readonly<Record<string, string>> = {
  '\uf0b7': '•',
  '\uf0a7': '▪',
  '\uf0a8': '□',
  '\uf0d8': '➢',
  '\uf0e0': '→',
  '\uf0fc': '✓',
  '\uf0fe': '☑',
  '\uf06f': '□',
  '\uf071': '□',
  '\uf076': '❖',
};

/** Codes that are not readable text: private use, unassigned and control characters. */
const UNREADABLE = /[\p{Co}\p{Cn}\ufffd]|(?!\s)\p{Cc}/gu;

/**
 * Normalizes text of a PDF: one kind of space, and letters instead of presentation forms. `unreadable` is the number of
 * dropped characters, in UTF-16 units, whose font does not define them.
 */
export function normalizeText(text: string): { text: string; unreadable: number } {
  // The fast path for most texts.
  if (/^[\x20-\x7e]*$/.test(text)) return { text: text.replace(/ {2,}/g, ' '), unreadable: 0 };
  const known = text
    .replace(/\s+/g, ' ')
    .replace(/[\uf020-\uf0ff]/g, (symbol) => SYMBOLS[symbol] ?? symbol)
    // NFKC puts a space before a vowel sign that has no letter.
    .replace(PRESENTATION_FORMS, (forms) => forms.normalize('NFKC').replace(/ (?=\p{M})/gu, ''));
  const readable = known.replace(UNREADABLE, '');
  return { text: readable, unreadable: known.length - readable.length };
}

const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/** Whether two texts meet in characters of a script that is written without spaces. */
export function areIdeographs(before: string, after: string): boolean {
  return IDEOGRAPH.test(before.slice(-1)) && IDEOGRAPH.test(after.slice(0, 1));
}
