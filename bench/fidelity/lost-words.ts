import type { Loss } from '@ibid/documents/formats/losses.ts';

/** What one reader finds of a file and we do not. */
export interface LostWords {
  /** All words that only they have, as they divide them. */
  only_theirs: string[];
  /** Those of them whose letters we do not have at all; the others are divided into words differently. */
  lost: string[];
  /** Those of `lost` that no loss of the source explains. */
  unlisted: string[];
}

/** A character of a script without spaces, or letters and digits of others. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc]|[\p{L}\p{N}](?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc])[\p{L}\p{N}\p{M}])*/gu;

/**
 * Words without what is written differently: ligatures, soft hyphens, hyphens at the ends of lines, capitals. In Chinese and
 * Japanese, which have no spaces, each character is one, the mark of a long vowel (U+30FC) included.
 */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .replace(/\u00ad|[-\u2010]\n\s*/g, '')
      .toLowerCase()
      .match(WORD) ?? []
  );
}

/** Compares the words of two texts, wherever they are in them, and the lost ones with the list of losses. */
export function lostWords(theirs: readonly string[], ours: readonly string[], losses: readonly Loss[]): LostWords {
  const left = countEach(ours);
  const isOurs = theirs.map((word) => take(left, word));
  const extra = ours.filter((word) => (left.get(word) ?? 0) > 0 && take(left, word));
  const only_theirs = theirs.filter((_, i) => !isOurs[i]);
  const lost = withoutLetters(theirs, isOurs, extra);
  return { only_theirs, lost, unlisted: unlistedOf(lost, losses) };
}

/** The lost words whose letters are not those of words that only we have: "e mail" is "email". */
function withoutLetters(theirs: readonly string[], isOurs: readonly boolean[], extra: readonly string[]): string[] {
  const extras = countEach(extra);
  const long = [...new Set(extra)].filter((word) => word.length > 3);
  const found = new Set<number>();
  for (const [i, word] of theirs.entries()) {
    if (isOurs[i] || found.has(i)) continue;
    // Several of their words are one of ours.
    for (let from = Math.max(0, i - 3); from <= i && !found.has(i); from += 1) {
      for (let to = i + 1; to <= Math.min(theirs.length, from + 5); to += 1) {
        const joined = theirs.slice(from, to).join('');
        if (to - from < 2 || !take(extras, joined)) continue;
        for (let k = from; k < to; k += 1) found.add(k);
        break;
      }
    }
    if (found.has(i)) continue;
    // One of theirs is several of ours, or part of one.
    const parts = partsOf(word, extras);
    if (parts) for (const part of parts) take(extras, part);
    else if (!long.some((each) => each.includes(word) && word.length > 2 && take(extras, each))) continue;
    found.add(i);
  }
  return theirs.filter((_, i) => !isOurs[i] && !found.has(i));
}

/** The words that a word is made of; undefined if it is not. */
function partsOf(word: string, words: ReadonlyMap<string, number>): string[] | undefined {
  if (word.length > 60) return undefined;
  const ends: (string[] | undefined)[] = [[]];
  for (let end = 1; end <= word.length; end += 1) {
    for (let from = 0; from < end && !ends[end]; from += 1) {
      const part = word.slice(from, end);
      const before = ends[from];
      if (before && (words.get(part) ?? 0) > 0) ends[end] = [...before, part];
    }
  }
  return ends[word.length];
}

/**
 * Lost words that no loss can explain: neither one whose whole text has them, nor one of which only the beginning and
 * the number of characters are known. What is no text (pages and pictures without text) explains nothing.
 */
function unlistedOf(lost: readonly string[], losses: readonly Loss[]): string[] {
  const listed = new Map<string, number>();
  let budget = 0;
  for (const { characters, excerpt } of losses) {
    const words = wordsOf(excerpt);
    for (const word of words) listed.set(word, (listed.get(word) ?? 0) + 1);
    budget += Math.max(0, characters - words.join('').length);
  }
  return lost.filter((word) => {
    if (take(listed, word)) return false;
    budget -= word.length;
    return budget < 0;
  });
}

export function countEach(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Takes one of a value out of the counts; false if there is none left. */
export function take(counts: Map<string, number>, value: string): boolean {
  const count = counts.get(value) ?? 0;
  if (count > 0) counts.set(value, count - 1);
  return count > 0;
}
