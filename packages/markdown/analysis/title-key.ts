import { termOf } from './stem.ts';
import { foldText, isUnspaced, type Token } from './tokenize.ts';

/** The prefix of unstemmed title words in the index, which are used for suggestions while a query is typed. */
export const TITLE_WORD_PREFIX = '^';

/** No typed word begins with this, so keys are never suggested as completions. */
export const KEY_PREFIX = `${TITLE_WORD_PREFIX}=`;

/** A longer key is shortened to its two ends. */
const MAX_KEY = 64;
const KEY_END = 24;

const APOSTROPHES = /['’]/g;
/** Signs at the end of a name are part of it: "C++" is not "C#". */
const NO_NAME = /[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}+#]+|(?<![\p{L}\p{N}+])[+#]+/gu;

/**
 * Returns the term by which titles and queries are equal regardless of case, accents and punctuation; "" if a title has
 * no other characters.
 */
export function titleKey(title: string): string {
  const name = foldText(title).replace(APOSTROPHES, '').replace(NO_NAME, ' ').trim().replaceAll(' ', '_');
  if (name === '') return '';
  return (
    KEY_PREFIX + (name.length <= MAX_KEY ? name : wellFormed(name.slice(0, MAX_KEY - KEY_END) + name.slice(-KEY_END)))
  );
}

/** Removes a character that the cut divided. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed().replaceAll('\ufffd', '');
}

/** The number of words in titles that people know by their initials. */
const MIN_WORDS = 2;
const MAX_WORDS = 5;

const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const LETTER = /^[\p{L}\p{N}]/u;

/**
 * Returns the terms of a title's initials, also with numbers as digits: "tfa" and "2fa" for "Two-factor
 * authentication".
 */
export function initialsOf(tokens: readonly Token[]): string[] {
  if (tokens.length < MIN_WORDS || tokens.length > MAX_WORDS) return [];
  if (tokens.some(({ word }) => isUnspaced(word) || !LETTER.test(word))) return [];
  const letters = tokens.map(({ word }) => [...word][0] as string).join('');
  const digits = tokens.map(({ word }) => (NUMBERS.includes(word) ? NUMBERS.indexOf(word) : [...word][0])).join('');
  return [...new Set([termOf(letters), termOf(digits)])];
}
