import { stem } from 'porter2';
import { STOP_WORDS } from './stop-words.ts';

/** Longer terms are cut: queries do not need more of a word, and index keys have to be short. */
const MAX_TERM_LENGTH = 64;

/** A run of letters, digits and combining marks; everything else, "_" and "-" included, separates words. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
const ASCII = /^[\x20-\x7e\n\t]*$/;

/** Scripts that are written without spaces are indexed by bigrams of characters. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const UNSPACED_RUNS =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+|[^\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;

/**
 * Combining marks are removed only in scripts where they are variations of a letter; in Hangul, kana or Devanagari they
 * are part of it.
 */
const MARKED_LETTER = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Arabic}\p{sc=Hebrew}])\p{M}+/gu;

/** A word of a text and its index term. */
export interface Token {
  /** The word without case and accents; a bigram in scripts without spaces. */
  word: string;
  /** The stem of the word, which is the key of the index. */
  term: string;
  /** The range of the word in the text in UTF-16 units, to mark it in passages. */
  start: number;
  end: number;
  isStopWord: boolean;
}

const stems = new Map<string, string>();
const MAX_CACHED_STEMS = 50_000;

/** The Porter2 (Snowball English) stem of ASCII words; other words are not stemmed. */
export function termOf(word: string): string {
  let term = stems.get(word);
  if (term === undefined) {
    term = /^[a-z]+$/.test(word) ? stem(word) : word;
    if (stems.size >= MAX_CACHED_STEMS) stems.clear();
    stems.set(word, term);
  }
  return term;
}

/** Removes case, width and accents: "Ｃａｆé" becomes "cafe". */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFKC').toLowerCase().normalize('NFD').replace(MARKED_LETTER, '$1').normalize('NFC');
}

/** The tokens of a text, in order. Pages, sources and queries all use this function. */
export function* tokenize(text: string): Generator<Token> {
  for (const { 0: run, index: start } of text.matchAll(RUN)) {
    const end = start + run.length;
    if (ASCII.test(run)) {
      yield tokenOf(truncate(run.toLowerCase()), start, end);
      continue;
    }
    const folded = foldText(run);
    // In scripts without spaces each token has its own range; elsewhere the range is the whole word with its accents.
    const hasOwnRange = folded.length === run.length && UNSPACED.test(folded);
    for (const { word, at } of wordsOf(folded)) {
      if (hasOwnRange) yield tokenOf(word, start + at, start + at + word.length);
      else yield tokenOf(word, start, end);
    }
  }
}

function tokenOf(word: string, start: number, end: number): Token {
  return { word, term: termOf(word), start, end, isStopWord: STOP_WORDS.has(word) };
}

/** Folding may split a run ("½" becomes "1⁄2"). */
function* wordsOf(folded: string): Generator<{ word: string; at: number }> {
  for (const { 0: part, index } of folded.matchAll(RUN)) {
    if (!UNSPACED.test(part)) yield { word: truncate(part), at: index };
    else {
      for (const { 0: piece, index: within } of part.matchAll(UNSPACED_RUNS)) {
        if (UNSPACED.test(piece)) yield* bigramsOf(piece, index + within);
        else yield { word: truncate(piece), at: index + within };
      }
    }
  }
}

function* bigramsOf(piece: string, start: number): Generator<{ word: string; at: number }> {
  let before = '';
  let at = start;
  for (const character of piece) {
    if (before !== '') {
      yield { word: before + character, at };
      at += before.length;
    } else if (character.length === piece.length) yield { word: character, at };
    before = character;
  }
}

function truncate(word: string): string {
  if (word.length <= MAX_TERM_LENGTH) return word;
  // Never between two surrogates.
  return word.slice(0, MAX_TERM_LENGTH).replace(/[\ud800-\udbff]$/, '');
}

/** The parts of camel-case names: "child" and "item" of "Get-ChildItem". */
export function* camelCaseParts(title: string): Generator<string> {
  for (const [run] of title.matchAll(RUN)) {
    const parts = run.split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    if (parts.length > 1) for (const part of parts) yield truncate(foldText(part));
  }
}

/** Whether the term is of a script without spaces, so that it may be part of a longer word. */
export function isUnspaced(term: string): boolean {
  return UNSPACED.test(term);
}
