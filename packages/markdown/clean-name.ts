/** Control characters, line separators, halves of surrogate pairs, and characters that turn the direction of the text after them. */
export const INVALID_IN_NAMES = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/u;
const ALL_INVALID = new RegExp(INVALID_IN_NAMES, 'gu');

/** A character that is drawn. Fillers and the blank Braille pattern are letters and symbols without a shape. */
export const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/** A name that no person typed here (an issuer's claim, a document's heading), as one line of text; "" if nothing of it is visible. */
export function cleanName(text: string): string {
  const name = text.normalize('NFC').replace(ALL_INVALID, ' ').trim();
  return VISIBLE.test(name) ? name : '';
}
