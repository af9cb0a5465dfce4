import { foldCase, foldLetters, foldText, INVISIBLE, VARIATIONS } from './fold.ts';
import { simplifyHan } from './han-variants.ts';
import { termOf } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';

export { foldText } from './fold.ts';
export { termOf } from './stem.ts';

/** Longer terms are truncated: queries do not need more of a word, and index keys have to be short. */
const MAX_TERM_LENGTH = 64;

/** A picture: an emoji with its joiners, modifiers and selectors, or a flag. */
const PICTURE = String.raw`\p{Extended_Pictographic}(?:\ufe0f|[\u{1f3fb}-\u{1f3ff}]|\u200d\p{Extended_Pictographic})*|\p{RI}\p{RI}`;
const LETTERS = String.raw`[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}${INVISIBLE}]*`;
/** A run of letters, digits and combining marks, or a picture; everything else, "_" and "-" included, separates words. */
const RUN = new RegExp(`${LETTERS}|${PICTURE}`, 'gu');
/** RUN for ASCII text, which is much faster. */
const ASCII_RUN = /[A-Za-z0-9]+/g;
const LETTER_RUN = new RegExp(LETTERS, 'gu');
const RUN_AT = new RegExp(`${LETTERS}|${PICTURE}`, 'uy');
const IS_PICTURE = new RegExp(`^(?:${PICTURE})`, 'u');
const ASCII = /^[\x20-\x7e\n\t]*$/;

/** Scripts that are written without spaces are indexed by bigrams of characters. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const UNSPACED_RUNS =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+|[^\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;
/** Characters of these scripts are usually words by themselves. */
const WORD_CHARACTER = /[\p{sc=Han}\p{sc=Hangul}]/u;
/** Scripts in which ICU recognizes words. */
const SEGMENTED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** A word of a text and its index term. */
export interface Token {
  /** The word without case and accents; a bigram in scripts without spaces. */
  word: string;
  /** The stem of the word, which is the key of the index. */
  term: string;
  /** The range of the word in the text in UTF-16 units, to mark it in passages. */
  start: number;
  end: number;
  /** Whether the word alone is a stop word. False in "AT&T". */
  isStopWord: boolean;
  /** Additional terms that find the word. */
  extra: readonly ExtraTerm[];
}

/**
 * An additional term of a word:
 *
 * - accented, spelled: its spelling with accents, or with substitute letters ("mueller").
 * - joined: the name that begins with it ("wifi" of "wi-fi", "3.2.1", "c++").
 * - begun: the first half of a code ("ordrab" of "ORDR-AB-001").
 * - part: a part of it ("user" of "getUserName").
 * - segment, character: a word or character of a script without spaces.
 * - stop words: a run of stop words.
 */
export interface ExtraTerm {
  kind: 'accented' | 'spelled' | 'joined' | 'begun' | 'part' | 'segment' | 'character' | 'stop words';
  /** Without case and accents, unless it is the accented spelling. */
  word: string;
  term: string;
}

const NO_EXTRA: readonly ExtraTerm[] = [];

/** Splits a text into tokens, in order. Pages, sources and queries all use this function. */
export function* tokenize(text: string): Generator<Token> {
  for (const tokens of tokenGroups(text)) yield* tokens;
}

/** As `tokenize`, with tokens grouped into words that no space separates. */
export function* tokenGroups(text: string): Generator<readonly Token[]> {
  /** The current group: the tokens of each run. */
  let group: Token[][] = [];
  let end = -1;
  /** The preceding words, while they are stop words. */
  let before: Token[] = [];
  // No run spans a line end, and most lines are ASCII.
  for (let line = 0; line <= text.length; ) {
    const next = text.indexOf('\n', line);
    const last = next < 0 ? text.length : next;
    const words = text.slice(line, last);
    for (const { 0: run, index } of words.matchAll(ASCII.test(words) ? ASCII_RUN : RUN)) {
      const start = line + index;
      if (group.length > 0 && (start !== end + 1 || !isConnector(text, end))) {
        yield joinGroup(group, text);
        group = [];
      }
      const tokens = tokensOf(run, start);
      end = start + run.length;
      before = addStopWords(before, tokens, text);
      if (tokens[0]?.isStopWord && isEmphasized(run, words)) tokens[0].isStopWord = false;
      if (tokens.length > 0) group.push(tokens);
    }
    line = last + 1;
  }
  yield joinGroup(group, text);
}

/** A run of this many stop words is a term, although a single stop word is not: "to be or not to be". */
const STOP_WORDS_IN_A_ROW = 4;
/**
 * Stop words that form no term with another stop word; neither do two frequent words. Such pairs are half of all pairs
 * and occur in most texts. Exception: both words are capitalized ("The Who").
 */
const ARTICLES = new Set(['the', 'a', 'an', 'and', 'of', 'their', 'those', 'these']);
const FREQUENT = new Set(
  (
    'am are as at be been being by can did do does each for from had has have he in is it its more most on or should some such that then ' +
    'they this to was we were what when which will with you'
  ).split(' '),
);
const CAPITAL = /^[A-Z]/;

function addStopWords(before: readonly Token[], tokens: readonly Token[], text: string): Token[] {
  const [token] = tokens;
  if (!token?.isStopWord || tokens.length > 1) return [];
  const last = [...before, token].slice(-STOP_WORDS_IN_A_ROW);
  const words = last.map(({ word }) => word);
  const [first] = last.slice(-2);
  if (first && first !== token) {
    const isName = CAPITAL.test(text[first.start] as string) && CAPITAL.test(text[token.start] as string);
    if (isName || isTellingPair(first.word, token.word)) addExtra(token, 'stop words', words.slice(-2).join('_'));
  }
  if (last.length === STOP_WORDS_IN_A_ROW) addExtra(token, 'stop words', words.join('_'));
  return last;
}

/** Tells whether two adjacent stop words are a term even if they are not capitalized. */
export function isTellingPair(first: string, second: string): boolean {
  return !ARTICLES.has(first) && !ARTICLES.has(second) && !(FREQUENT.has(first) && FREQUENT.has(second));
}

/** Tells whether a word is in capitals in a line with lower-case letters: "IT" is a name. */
function isEmphasized(run: string, line: string): boolean {
  return run.length > 1 && run === run.toUpperCase() && /\p{Ll}/u.test(line);
}

const SPACES = ' \u00a0\u202f\u2009';
/** A number with thousands separators; at least two if they are points, since "1.250" is a fraction elsewhere. */
const THOUSANDS = new RegExp(`^\\d{1,3}(?:(?:[,${SPACES}]\\d{3})+|(?:[.'’]\\d{3}){2,})$`);

/** Tells whether a character joins its neighbors to one name or number. */
function isConnector(text: string, at: number): boolean {
  const character = text[at] as string;
  if (SPACES.includes(character)) {
    return (
      /(?:^|[^\d.,])\d{1,3}$/.test(text.slice(Math.max(0, at - 4), at)) &&
      /^\d{3}(?!\d)/.test(text.slice(at + 1, at + 5))
    );
  }
  if (character === ',') return /\d/.test(text[at - 1] ?? '') && /^\d{3}(?!\d)/.test(text.slice(at + 1, at + 5));
  return "-_./\\'’&@+‐‑".includes(character);
}

/** Names of more parts are paths and addresses, which people search by their parts. */
const MAX_JOINED_PARTS = 5;
/** "l'homme" and "c'est" are two words. */
const ELISION = /^(?:[cdjlmnst]|qu)$/;

/** Returns the tokens of connected words, and adds the joined name to the first token. */
function joinGroup(group: readonly Token[][], text: string): readonly Token[] {
  const [[first] = [], [second] = []] = group;
  if (!first) return [];
  if (second && group.length <= MAX_JOINED_PARTS && !(group.length === 2 && ELISION.test(first.word))) {
    const parts = group.flat();
    if (parts.length === group.length && !isUnspaced(first.word)) {
      addJoined(parts, text);
      addBegun(parts, text);
      if (parts.every((token) => token.isStopWord)) first.isStopWord = false;
    }
  }
  addSymbols(first, group.at(-1)?.at(-1) as Token, text);
  return group.length === 1 ? (group[0] ?? []) : group.flat();
}

function addJoined(group: readonly Token[], text: string): void {
  // Prefer a word that is not a stop word, so that a query without its stop words still has the name: "I/O", "on-call".
  const first = group.find(({ isStopWord }) => !isStopWord) ?? (group[0] as Token);
  const joined = joinedWords(group, text);
  const term = termOf(truncate(joined));
  if (!group.some((token) => token.term === term)) addExtra(first, 'joined', joined);
  const written = text.slice(group[0]?.start, group.at(-1)?.end);
  if (THOUSANDS.test(written)) addExtra(first, 'joined', written.replace(/\D/g, ''));
}

function joinedWords(group: readonly Token[], text: string): string {
  let joined = group[0]?.word ?? '';
  for (let i = 1; i < group.length; i += 1) {
    const [one, other] = [group[i - 1] as Token, group[i] as Token];
    // The numbers of a version or an address do not form one number.
    const isApart = text[one.end] !== ',' && /\d$/.test(one.word) && /^\d/.test(other.word);
    joined += (isApart ? '.' : '') + other.word;
  }
  return joined;
}

/** Codes of more parts are machine-made identifiers, which people paste as a whole. */
const MAX_CODE_PARTS = 4;

/** Adds the first two parts of a code, which people type: letters, and digits in any part. */
function addBegun(group: readonly Token[], text: string): void {
  if (group.length < 3 || group.length > MAX_CODE_PARTS || !group.some(({ word }) => /\d/.test(word))) return;
  const joined = joinedWords(group.slice(0, 2), text);
  if (/\p{L}/u.test(joined)) addExtra(group[0] as Token, 'begun', joined);
}

/** Adds names with their signs ("C#", "C++" and ".NET") and negative numbers: "-40" is another number than "40". */
function addSymbols(first: Token, last: Token, text: string): void {
  const signs = text[last.end] === '#' ? '#' : text.startsWith('++', last.end) ? '++' : '';
  if (signs !== '' && !IN_WORD.test(text[last.end + signs.length] ?? '')) {
    addExtra(last, 'joined', last.word + signs);
  }
  if (text[first.start - 1] === '.' && !/[^\s([{"'`]/u.test(text[first.start - 2] ?? '')) {
    addExtra(first, 'joined', `.${first.word}`);
  }
  if (
    /[-−]/.test(text[first.start - 1] ?? '') &&
    /^\d/.test(first.word) &&
    !/[^\s(]/u.test(text[first.start - 2] ?? '')
  ) {
    addExtra(first, 'joined', `-${first.word}`);
  }
}

const IN_WORD = /[\p{L}\p{N}]/u;

const STEMMED: ReadonlySet<ExtraTerm['kind']> = new Set(['spelled', 'joined', 'begun', 'part']);

function addExtra(token: Token, kind: ExtraTerm['kind'], word: string): void {
  const cut = truncate(word);
  token.extra = [...token.extra, { kind, word: cut, term: STEMMED.has(kind) ? termOf(cut) : cut }];
}

function tokensOf(run: string, start: number): Token[] {
  const end = start + run.length;
  if (ASCII.test(run)) {
    const token = tokenOf(truncate(run.toLowerCase()), start, end);
    if (token.word !== run) addParts(token, run);
    if (run.length > 5 && HEXADECIMAL.test(token.word)) addExtra(token, 'joined', token.word.slice(2));
    return [token];
  }
  if (IS_PICTURE.test(run)) return [tokenOf(truncate(run.replace(VARIATIONS, '')), start, end)];
  const folded = foldLetters(run);
  // In scripts without spaces each token has its own range. In other scripts the range is the whole word, with its
  // accents.
  const hasOwnRange = folded.length === run.length && UNSPACED.test(folded);
  const tokens: Token[] = [];
  for (const { word, at, extra } of wordsOf(folded)) {
    const token = hasOwnRange ? tokenOf(word, start + at, start + at + word.length) : tokenOf(word, start, end);
    for (const [kind, more] of extra ?? []) addExtra(token, kind, more);
    tokens.push(token);
  }
  if (tokens[0]) {
    addParts(tokens[0], run);
    addSpelling(tokens[0], run);
  }
  return tokens;
}

/** A hexadecimal code, which people write with or without its prefix. */
const HEXADECIMAL = /^0x[0-9a-f]{4,}$/;

function tokenOf(word: string, start: number, end: number): Token {
  return { word, term: termOf(word), start, end, isStopWord: STOP_WORDS.has(word), extra: NO_EXTRA };
}

/** Longer words are found by their beginnings. */
const MAX_ACCENTED = 6;
const LATIN = /^[\p{sc=Latin}\p{M}]+$/u;

/** Substitute spellings of letters in German, Danish and Norwegian. */
const LETTERS_FOR: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };
const HAS_LETTERS_FOR = /[äöüøå]/g;

/**
 * Adds the accented spelling, so that it ranks higher where accents distinguish words (such as the tones of
 * Vietnamese), and the spelling with substitute letters.
 */
function addSpelling(token: Token, run: string): void {
  const spelled = foldCase(run);
  const other = foldText(spelled.replace(HAS_LETTERS_FOR, (letter) => LETTERS_FOR[letter] ?? letter));
  if (other !== token.word && LATIN.test(spelled)) addExtra(token, 'spelled', other);
  if (token.word.length > MAX_ACCENTED) return;
  if (spelled !== token.word && LATIN.test(spelled)) addExtra(token, 'accented', spelled);
}

const CAMEL_CASE = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u;

function addParts(token: Token, run: string): void {
  if (!CAMEL_CASE.test(run)) return;
  for (const part of camelCaseParts(run)) if (part !== token.word) addExtra(token, 'part', part);
}

interface Word {
  word: string;
  at: number;
  extra?: [ExtraTerm['kind'], string][];
}

/** Splits a folded run into words. Folding may split a run ("½" becomes "1⁄2"). */
function* wordsOf(folded: string): Generator<Word> {
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

/** Returns the pairs of adjacent characters, each with the longer word that begins there. */
function* bigramsOf(piece: string, start: number): Generator<Word> {
  const characters = [...piece];
  if (characters.length === 1) {
    yield { word: simplifyHan(piece), at: start };
    return;
  }
  const words = segmentsOf(piece);
  let at = 0;
  for (let i = 0; i + 1 < characters.length; i += 1) {
    const [one, other] = [characters[i] as string, characters[i + 1] as string];
    const extra: [ExtraTerm['kind'], string][] = [];
    const word = words.get(at);
    if (word !== undefined) extra.push(['segment', simplifyHan(word)]);
    // Only the last character needs its own term: any other is found as the beginning of its pair.
    if (i + 2 === characters.length && WORD_CHARACTER.test(other)) extra.push(['character', simplifyHan(other)]);
    yield { word: simplifyHan(one + other), at: start + at, extra };
    at += one.length;
  }
}

/** Returns the words of at least three characters by their offset; shorter words are bigrams. */
function segmentsOf(piece: string): Map<number, string> {
  const words = new Map<number, string>();
  if (piece.length < 3 || !SEGMENTED.test(piece)) return words;
  for (const { segment, index } of segmenter.segment(piece)) {
    if (segment.length > 2) words.set(index, truncate(segment));
  }
  return words;
}

function truncate(word: string): string {
  if (word.length <= MAX_TERM_LENGTH) return word;
  // Do not split a surrogate pair.
  return word.slice(0, MAX_TERM_LENGTH).replace(/[\ud800-\udbff]$/, '');
}

/** Returns the parts of camel-case names: "child" and "item" of "Get-ChildItem". */
function* camelCaseParts(title: string): Generator<string> {
  for (const [run] of title.matchAll(LETTER_RUN)) {
    const parts = run.split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    if (parts.length > 1) for (const part of parts) yield truncate(foldText(part));
  }
}

/** Returns the word or picture that begins at an offset of a text, as written; '' if no run begins there. */
export function runAt(text: string, at: number): string {
  RUN_AT.lastIndex = at;
  return RUN_AT.exec(text)?.[0] ?? '';
}

/** Tells whether a term is in a script without spaces, so that it may be part of a longer word. */
export function isUnspaced(term: string): boolean {
  return UNSPACED.test(term);
}
