/** Letters as they are shaped in print: Arabic and Hebrew presentation forms, Armenian ligatures. */
const PRESENTATION_FORMS = /[\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]+/g;

/** Codes of the Symbol and Wingdings fonts that Word writes as marks of lists. */
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

/** What is no character of any text: for private use, not assigned, control characters. */
const UNREADABLE = /[\p{Co}\p{Cn}\ufffd]|(?!\s)\p{Cc}/gu;

/**
 * The text of a PDF as it is written elsewhere: one kind of space, letters instead of their printed forms. `unreadable`:
 * how many characters were left out because their font does not say what they are, in UTF-16 units.
 */
export function normalizeText(text: string): { text: string; unreadable: number } {
  // Nearly all texts are.
  if (/^[\x20-\x7e]*$/.test(text)) return { text: text.replace(/ {2,}/g, ' '), unreadable: 0 };
  const known = text
    .replace(/\s+/g, ' ')
    .replace(/[\uf020-\uf0ff]/g, (symbol) => SYMBOLS[symbol] ?? symbol)
    // The compatibility form of a vowel sign that stands alone has a space before it.
    .replace(PRESENTATION_FORMS, (forms) => forms.normalize('NFKC').replace(/ (?=\p{M})/gu, ''));
  const readable = known.replace(UNREADABLE, '');
  return { text: readable, unreadable: known.length - readable.length };
}

const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/** Whether two texts meet in characters that are written without spaces between them. */
export function areIdeographs(before: string, after: string): boolean {
  return IDEOGRAPH.test(before.slice(-1)) && IDEOGRAPH.test(after.slice(0, 1));
}
