import { stem } from 'porter2';
import { STOP_WORDS } from './stop-words.ts';

/** A term is cut here: nobody types more of a word, and a key of the index has to be short. */
const TERM_MAX = 64;

/** A run of letters, digits and their marks; everything else, also "_" and "-", stands between words. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
const ASCII = /^[\x20-\x7e\n\t]*$/;

/** Scripts that are written without spaces: each two neighbours are a term. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const UNSPACED_OR_NOT =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+|[^\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;

/** Marks are left out only where they vary a letter; in Hangul, kana or Devanagari they are part of it. */
const MARKED = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Arabic}\p{sc=Hebrew}])\p{M}+/gu;

/** A word of a text and what it is looked for by. */
export interface Token {
  /** As people would write it: without case and accents. A pair of neighbours where a script knows no spaces. */
  word: string;
  /** The word's stem, which the index keeps. */
  term: string;
  /** Where the run of characters that it is in stands in the text, in UTF-16 units; what is marked in a passage. */
  start: number;
  end: number;
  isStopWord: boolean;
}

const stems = new Map<string, string>();
const STEMS_KEPT = 50_000;

/** Porter2 for English letters; every other word stays as it is. */
export function termOf(word: string): string {
  let term = stems.get(word);
  if (term === undefined) {
    term = /^[a-z]+$/.test(word) ? stem(word) : word;
    if (stems.size >= STEMS_KEPT) stems.clear();
    stems.set(word, term);
  }
  return term;
}

/** Case, width and accents do not count: "Ｃａｆé" is "cafe". */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFKC').toLowerCase().normalize('NFD').replace(MARKED, '$1').normalize('NFC');
}

/** The tokens of a text in their order: the one way from text to terms, for pages, sources and queries. */
export function* tokenize(text: string): Generator<Token> {
  for (const { 0: run, index: start } of text.matchAll(RUN)) {
    const end = start + run.length;
    if (ASCII.test(run)) {
      yield tokenOf(cut(run.toLowerCase()), start, end);
      continue;
    }
    const folded = foldText(run);
    // In a text without spaces each pair, and each word between pairs, is marked by itself; elsewhere the whole word with
    // its accents.
    const isApart = folded.length === run.length && UNSPACED.test(folded);
    for (const { word, at } of wordsOf(folded)) {
      if (isApart) yield tokenOf(word, start + at, start + at + word.length);
      else yield tokenOf(word, start, end);
    }
  }
}

function tokenOf(word: string, start: number, end: number): Token {
  return { word, term: termOf(word), start, end, isStopWord: STOP_WORDS.has(word) };
}

/** Folding may have parted a run ("½" is "1⁄2"). */
function* wordsOf(folded: string): Generator<{ word: string; at: number }> {
  for (const { 0: part, index } of folded.matchAll(RUN)) {
    if (!UNSPACED.test(part)) yield { word: cut(part), at: index };
    else {
      for (const { 0: piece, index: within } of part.matchAll(UNSPACED_OR_NOT)) {
        if (UNSPACED.test(piece)) yield* pairsOf(piece, index + within);
        else yield { word: cut(piece), at: index + within };
      }
    }
  }
}

function* pairsOf(piece: string, start: number): Generator<{ word: string; at: number }> {
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

function cut(word: string): string {
  if (word.length <= TERM_MAX) return word;
  // Never between the halves of a pair of surrogates.
  return word.slice(0, TERM_MAX).replace(/[\ud800-\udbff]$/, '');
}

/** Names of code are found by their parts too: "child" and "item" of "Get-ChildItem". */
export function* camelCaseParts(title: string): Generator<string> {
  for (const [run] of title.matchAll(RUN)) {
    const parts = run.split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    if (parts.length > 1) for (const part of parts) yield cut(foldText(part));
  }
}

/** Whether a term may be part of a longer one because its script knows no spaces. */
export function isUnspaced(term: string): boolean {
  return UNSPACED.test(term);
}
