import { simplifyHan } from './han-variants.ts';

const ASCII = /^[\x20-\x7e\n\t]*$/;

/**
 * Combining marks are removed only in scripts where they mark a variant of a letter; in Hangul, kana or Devanagari they
 * are part of the letter.
 */
const MARKED_LETTER = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Arabic}\p{sc=Hebrew}])\p{M}+/gu;

/**
 * Characters that may occur inside a word without being part of it: soft hyphen, zero-width space and joiners, and
 * tatweel.
 */
export const INVISIBLE = '\u00ad\u200b-\u200d\u2060\ufeff\u0640';
/** Variants of emoji: text or color presentation, and skin tones. */
export const VARIATIONS = /[\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]/gu;
const IGNORED = new RegExp(`[${INVISIBLE}\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc]`, 'gu');

/** Letters with a substitute spelling for keyboards that lack them, and letters that Unicode does not decompose. */
const SPELLINGS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', œ: 'oe', æ: 'ae', ø: 'o', đ: 'd', ð: 'd', þ: 'th', ł: 'l', ı: 'i', ħ: 'h' },
  // Alef with wasla, alef maksura, teh marbuta; Persian and Urdu forms of kaf, yeh and heh.
  ...{ ٱ: 'ا', ى: 'ي', ة: 'ه', ک: 'ك', ی: 'ي', ہ: 'ه', ھ: 'ه' },
};
const SPELLED = new RegExp(`[${Object.keys(SPELLINGS).join('')}]`, 'gu');

const KATAKANA = /[\u30a1-\u30f6]/gu;
const KATAKANA_TO_HIRAGANA = 0x60;
const DIGITS = /(?![0-9])\p{Nd}/gu;

/**
 * Removes the differences that searchers ignore or spell differently: case, width, accents, invisible characters,
 * katakana or hiragana, traditional or simplified characters, and digits of other scripts. "Ｃａｆé" becomes "cafe", "٣"
 * "3".
 */
export function foldText(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : simplifyHan(foldLetters(text));
}

/** As `foldText`, but keeps traditional characters, so that Japanese words can be recognized. */
export function foldLetters(text: string): string {
  const bare = foldCase(text).normalize('NFD').replace(MARKED_LETTER, '$1').normalize('NFD').replace(IGNORED, '');
  return bare
    .normalize('NFC')
    .replace(SPELLED, (letter) => SPELLINGS[letter] ?? letter)
    .replace(KATAKANA, (kana) => String.fromCharCode(kana.charCodeAt(0) - KATAKANA_TO_HIRAGANA))
    .replace(DIGITS, digitValue);
}

/** Removes case and width, but no accents. */
export function foldCase(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFC');
}

/** Unicode keeps the ten digits of a script next to each other, zero first. */
function digitValue(digit: string): string {
  const code = digit.codePointAt(0) as number;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}
