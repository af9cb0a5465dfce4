/**
 * Control characters, line separators, unpaired surrogates, and characters that change the direction of the following
 * text.
 */
export const INVALID_IN_NAMES = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/u;
const ALL_INVALID = new RegExp(INVALID_IN_NAMES, 'gu');

/** A visible character. Fillers and the blank Braille pattern are letters and symbols without a shape. */
export const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Cleans a name from outside (an identity provider's claim, a person in an imported archive) to one line. Returns "" if
 * no character is visible.
 */
export function cleanName(text: string): string {
  const name = text.normalize('NFC').replace(ALL_INVALID, ' ').trim();
  return VISIBLE.test(name) ? name : '';
}
