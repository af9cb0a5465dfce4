import { stem as porter2 } from 'porter2';

const stems = new Map<string, string>();
const MAX_CACHED_STEMS = 50_000;

/**
 * Returns the index term of a folded word: the common part of the word's forms. It depends on the script, not on the
 * language. A word has the same term in texts and queries, and words with the same term match each other.
 */
export function termOf(word: string): string {
  let term = stems.get(word);
  if (term === undefined) {
    term = stemOf(word);
    if (stems.size >= MAX_CACHED_STEMS) stems.clear();
    stems.set(word, term);
  }
  return term;
}

const LATIN = /^[a-z]+$/;
const INFLECTED_AT_THE_END = /^[\p{sc=Cyrillic}\p{sc=Greek}]+$/u;
const ARABIC = /^\p{sc=Arabic}+$/u;
const DEVANAGARI = /^\p{sc=Devanagari}+$/u;
/**
 * Vowel signs, vowels and nasals at the end of a word, and the semivowel between two of them: number, gender and case
 * in Hindi.
 */
const DEVANAGARI_ENDING = /(?<=..)(?:[\u0900-\u0914\u093e-\u094c]|(?<=ि)य(?=[ाेोौ]))+$/u;
const HEBREW = /^\p{sc=Hebrew}+$/u;

/** The letters that distinguish words in Cyrillic and Greek script; endings follow them, or are vowels. */
const STEM_LETTERS = 5;
const ENDING = /(?<=...)[аеиоуыэюяьіαεηιουω]+ς?$/u;

function stemOf(word: string): string {
  if (LATIN.test(word)) return porter2(word);
  if (INFLECTED_AT_THE_END.test(word)) return word.slice(0, STEM_LETTERS).replace(ENDING, '');
  if (ARABIC.test(word)) return stemArabic(word);
  if (HEBREW.test(word)) return stemHebrew(word);
  if (DEVANAGARI.test(word)) return word.replace(DEVANAGARI_ENDING, '');
  return word;
}

/**
 * Light stemming as described by Larkey, Ballesteros and Connell (SIGIR 2002): removes the conjunction, the article and
 * the endings of number, gender and possession, unless too few letters would remain.
 */
function stemArabic(word: string): string {
  let stem = word;
  if (stem.length > 3) stem = stem.replace(/^و(?=...)/u, '');
  stem = stem.replace(/^(?:وال|بال|كال|فال|ال|لل)(?=..)/u, '');
  for (let ending = 0; ending < 2; ending += 1) {
    const shorter = stem.replace(/(?<=..)(?:ها|ان|ات|ون|ين|يه)$|(?<=...)[هي]$/u, '');
    if (shorter === stem) break;
    stem = shorter;
  }
  return stem;
}

/** Removes the letters that Hebrew prefixes to a word (and, the, in, to, from, that, as) and plural endings. */
function stemHebrew(word: string): string {
  return word
    .replace(/^ו(?=...)/u, '')
    .replace(/^[הבלמשכ](?=...)/u, '')
    .replace(/(?<=..)(?:ים|ות)$/u, '');
}

const LONG_LATIN = /^[\p{sc=Latin}\p{M}]{6}/u;

/**
 * Distinguishes second terms from words, so that a word of six letters does not match the beginnings of other words.
 */
export const BEGINNING = '~';

/**
 * Returns the beginning of a long word in Latin script: a second term of low weight. It matches forms that Porter2, a
 * stemmer for English, does not join ("Lehrer", "Lehrerin"). It is not stored, but derived from the term whenever
 * postings are computed.
 */
export function beginningOf(term: string): string | undefined {
  if (term.length < 6 || !LONG_LATIN.test(term)) return undefined;
  return BEGINNING + term.slice(0, 6);
}
