import { foldText, isUnspaced, runAt, tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import { foldInPlace, type Match, placesOf, startOfWord, stemPrefix } from './find-words.ts';

/** Maximum distance of consecutive words of a phrase, in UTF-16 units. */
const WORD_SPAN = 80;

/**
 * Finds the first place where the terms of `phrase` are adjacent in a text, and returns the matched words. Checks the
 * surroundings of each occurrence of its longest term, up to the first word that differs.
 */
export function findPhrase(text: string, phrase: readonly string[]): Match[] | undefined {
  if (phrase.length === 0) return undefined;
  const longest = phrase.reduce((one, other) => (other.length > one.length ? other : one));
  const before = phrase.indexOf(longest);
  const behind = phrase.slice(before);
  const folded = foldInPlace(text);
  const isPair = isUnspaced(longest);
  const beginning = isPair ? longest : stemPrefix(longest);
  for (const place of placesOf(folded, beginning)) {
    const at = isPair ? place : startOfWord(folded, place);
    if (at === undefined) continue;
    const end = endOfTerms(text, at, behind);
    if (end === undefined) continue;
    const from = Math.max(0, at - WORD_SPAN * before);
    const tokens = [...tokenize(text.slice(from, end))].slice(-phrase.length);
    if (tokens.length < phrase.length || !tokens.every(({ term }, i) => term === phrase[i])) continue;
    return tokens.map((token) => ({ term: token.term, start: from + token.start, end: from + token.end }));
  }
  return undefined;
}

/** Returns the end of the last term if the text at `at` consists of exactly these terms. */
function endOfTerms(text: string, at: number, terms: readonly string[]): number | undefined {
  let i = 0;
  for (const { term, end } of tokenize(text.slice(at, at + WORD_SPAN * (terms.length + 1)))) {
    if (term !== terms[i]) return undefined;
    i += 1;
    if (i === terms.length) return at + end;
  }
  return undefined;
}

/** Whether the text contains a word in exactly this form, folded. */
export function hasForm(text: string, word: string): boolean {
  const folded = foldInPlace(text);
  for (const at of placesOf(folded, word)) {
    const start = startOfWord(folded, at);
    if (start === at && foldText(runAt(text, start)) === word) return true;
  }
  return false;
}

/** Whether the text contains a folded name that ends in a sign ("c++"), but not as part of a longer name. */
export function containsName(text: string, name: string): boolean {
  const folded = foldText(text);
  const isPart = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}\p{M}+#]/u.test(character);
  for (let at = folded.indexOf(name); at >= 0; at = folded.indexOf(name, at + 1)) {
    if (!isPart(folded[at - 1]) && !isPart(folded[at + name.length])) return true;
  }
  return false;
}
