import type { Loss } from '@ibid/documents/formats/losses.ts';

/** Words of a file that another reader finds and ours does not. */
export interface LostWords {
  /** All words that only the other reader has, with its division into words. */
  only_theirs: string[];
  /**
   * Words in `only_theirs` whose letters our text lacks completely; our text divides the rest into words differently.
   */
  lost: string[];
  /** Words in `lost` that no loss of the source explains. */
  unlisted: string[];
}

/** A character of a script without spaces, or a run of letters and digits of other scripts. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc]|[\p{L}\p{N}](?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc])[\p{L}\p{N}\p{M}])*/gu;

/**
 * Splits a text into words, normalized for ligatures, soft hyphens, hyphens at the ends of lines and capitals. In
 * Chinese and Japanese, which have no spaces, each character is a word, including the mark of a long vowel (U+30FC).
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

/** Compares the words of two texts, regardless of their positions, and the lost words with the list of losses. */
export function lostWords(theirs: readonly string[], ours: readonly string[], losses: readonly Loss[]): LostWords {
  const left = countEach(ours);
  const isOurs = theirs.map((word) => take(left, word));
  const extra = ours.filter((word) => (left.get(word) ?? 0) > 0 && take(left, word));
  const only_theirs = theirs.filter((_, i) => !isOurs[i]);
  const lost = withoutLetters(theirs, isOurs, extra);
  return { only_theirs, lost, unlisted: unlistedOf(lost, losses) };
}

/** Returns the lost words, except words that our text only divides differently: "e mail" is "email". */
function withoutLetters(theirs: readonly string[], isOurs: readonly boolean[], extra: readonly string[]): string[] {
  const extras = countEach(extra);
  const long = [...new Set(extra)].filter((word) => word.length > 3);
  const found = new Set<number>();
  for (const [i, word] of theirs.entries()) {
    if (isOurs[i] || found.has(i)) continue;
    // Several words of theirs may form a single word of ours.
    for (let from = Math.max(0, i - 3); from <= i && !found.has(i); from += 1) {
      for (let to = i + 1; to <= Math.min(theirs.length, from + 5); to += 1) {
        const joined = theirs.slice(from, to).join('');
        if (to - from < 2 || !take(extras, joined)) continue;
        for (let k = from; k < to; k += 1) found.add(k);
        break;
      }
    }
    if (found.has(i)) continue;
    // Their word may consist of several of our words, or be part of a longer one.
    const parts = partsOf(word, extras);
    if (parts) for (const part of parts) take(extras, part);
    else if (!long.some((each) => each.includes(word) && word.length > 2 && take(extras, each))) continue;
    found.add(i);
  }
  return theirs.filter((_, i) => !isOurs[i] && !found.has(i));
}

/** Splits a word into given words; returns undefined if that is impossible. */
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
 * Returns the lost words that no loss can explain. A loss explains the words in its excerpt, and as many further
 * characters as it counts beyond the excerpt. Losses without text, such as pictures and pages without text, explain no
 * words.
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

/** Decrements the count of a value; returns false if it is zero. */
export function take(counts: Map<string, number>, value: string): boolean {
  const count = counts.get(value) ?? 0;
  if (count > 0) counts.set(value, count - 1);
  return count > 0;
}
