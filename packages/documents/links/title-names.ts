import { isUnspaced } from '@ibid/markdown/analysis/tokenize.ts';

/** A page and a title by which documents may mention it. */
export interface KnownTitle {
  title: string;
  path: string;
  /** Whether the title is from a file name, which is often in lower case. */
  is_filename: boolean;
}

/** A title in a text: [start, end) in UTF-16 units. `path` is "" if several pages have the title. */
export interface Mention {
  start: number;
  end: number;
  path: string;
}

/** Longer titles are not mentioned in sentences. */
const NAME_MAX = 120;
const UNITS_MAX = 24;

/** The maximum number of titles that differ only in the punctuation after the last word. */
const ENDINGS_MAX = 8;

/**
 * The minimum lengths of a title to be linked: letters in several words, letters of one word, characters of a script
 * without spaces.
 */
const LETTERS_MIN = 8;
const WORD_LETTERS_MIN = 5;
const UNSPACED_MIN = 6;

/** Characters with a meaning in Markdown differ between a text and a title. */
const MARKUP = /[[\]`<>*~|\\$^{}]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\p{Cc}/u;

/** One word that is not a dictionary word: a capital after a small letter or before one, a digit, or several parts. */
const NON_DICTIONARY_WORD = /\p{Ll}\p{M}*\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{N}|[\p{L}\p{N}][-_][\p{L}\p{N}]/u;

/**
 * Tells whether a title is specific enough to be linked: two words with eight letters, or one word of five letters that
 * is not in a dictionary, or six characters of a script without spaces. It must begin with a letter or a digit.
 */
export function isName(title: string): boolean {
  if (title.length < WORD_LETTERS_MIN || title.length > NAME_MAX) return false;
  if (!/^[\p{L}\p{N}]/u.test(title) || MARKUP.test(title)) return false;
  if (isUnspaced(title) && [...title].filter(isUnspaced).length >= UNSPACED_MIN) return true;
  const letters = title.match(/\p{L}/gu)?.length ?? 0;
  const words = title.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  return words > 1 ? letters >= LETTERS_MIN : letters >= WORD_LETTERS_MIN && NON_DICTIONARY_WORD.test(title);
}

/** The rest of a name; its words are the key. */
interface Name {
  /** The text after its last word: a closing parenthesis, a question mark. */
  ending: string;
  path: string;
}

export interface TitleNames {
  size: number;
  /**
   * The lengths of names in units, longest first, by their first two units ("" as the second unit of a name with only
   * one).
   */
  lengths: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;
  /** Names by their words, with a lower-case first letter. */
  names: ReadonlyMap<string, readonly Name[]>;
  /** Names from lower-case file names, which texts may capitalize. */
  lowerCase: ReadonlyMap<string, readonly Name[]>;
}

/** No titles. */
export const NO_NAMES: TitleNames = { size: 0, lengths: new Map(), names: new Map(), lowerCase: new Map() };

/** A token of a text: a word, or a single character of a script without spaces. */
interface Unit {
  start: number;
  end: number;
  /** The unit in lower case. */
  key: string;
}

const RUN = /[\p{L}\p{N}\p{M}]+/gu;

/** Indexes titles, so that all of them can be found in one pass. A title of several pages links to none of them. */
export function titleNames(titles: Iterable<KnownTitle>): TitleNames {
  const lengths = new Map<string, Map<string, number[]>>();
  const names = new Map<string, Name[]>();
  const lowerCase = new Map<string, Name[]>();
  for (const { title, path, is_filename } of titles) {
    const text = title.replace(/\s+/g, ' ').trim().normalize('NFC');
    if (!isName(text)) continue;
    const units = unitsOf(text);
    const [first, second] = units;
    const last = units.at(-1);
    if (!first || !last || units.length > UNITS_MAX) continue;
    const words = text.slice(0, last.end);
    const name = { ending: text.slice(last.end), path };
    add(names, keyOf(words), name);
    if (is_filename && text === text.toLowerCase()) add(lowerCase, words, name);
    const begun = lengths.get(first.key) ?? new Map<string, number[]>();
    lengths.set(first.key, begun);
    const known = begun.get(second?.key ?? '') ?? [];
    begun.set(second?.key ?? '', known);
    if (!known.includes(units.length)) known.push(units.length);
  }
  for (const begun of lengths.values()) for (const known of begun.values()) known.sort((a, b) => b - a);
  return { size: names.size, lengths, names, lowerCase };
}

function add(names: Map<string, Name[]>, key: string, { ending, path }: Name): void {
  const same = names.get(key) ?? [];
  names.set(key, same);
  const known = same.find((name) => name.ending === ending);
  if (!known && same.length < ENDINGS_MAX) same.push({ ending, path });
  else if (known && known.path !== path) known.path = '';
}

/** Returns the titles in a text, in order: the longest title at each place, without overlaps. */
export function mentionsIn(text: string, { lengths, names, lowerCase }: TitleNames): Mention[] {
  const mentions: Mention[] = [];
  const units = unitsOf(text);
  for (let i = 0; i < units.length; i += 1) {
    const first = units[i] as Unit;
    const begun = lengths.get(first.key);
    if (!begun || !beginsAlone(text, first.start)) continue;
    for (const length of [...(begun.get(units[i + 1]?.key ?? '') ?? []), ...(begun.get('') ?? [])]) {
      const last = units[i + length - 1];
      if (!last || last.end - first.start > 2 * NAME_MAX) continue;
      const words = text.slice(first.start, last.end).replace(/\s+/g, ' ').normalize('NFC');
      const name =
        endingOf(names.get(keyOf(words)), text, last.end) ??
        (lowerCase.size > 0 ? endingOf(lowerCase.get(words.toLowerCase()), text, last.end) : undefined);
      if (!name) continue;
      mentions.push({ start: first.start, end: last.end + name.ending.length, path: name.path });
      i += length - 1;
      break;
    }
  }
  return mentions;
}

/**
 * Returns the beginnings of titles that a text may mention: two units with the text in between, or a single word that
 * may be a title. ASCII letters are in lower case; a first letter beyond ASCII occurs in both cases.
 */
export function beginningsIn(text: string): Set<string> {
  const beginnings = new Set<string>();
  const units = unitsOf(text);
  for (const [i, { start, end }] of units.entries()) {
    const second = units[i + 1];
    if (mayBeWordTitle(text.slice(start, end))) addBeginning(beginnings, text.slice(start, end));
    if (!second || second.end - start > 2 * NAME_MAX) continue;
    const both = text.slice(start, second.end).replace(/\s+/g, ' ');
    if (!MARKUP.test(both)) addBeginning(beginnings, both);
  }
  return beginnings;
}

/** Tries both cases of the first letter, since the title may have the other one. */
function mayBeWordTitle(word: string): boolean {
  const [first = ''] = word;
  const rest = word.slice(first.length);
  return (
    word.length >= WORD_LETTERS_MIN &&
    [first.toLowerCase(), first.toUpperCase()].some((letter) => isName(letter + rest))
  );
}

/** Adds composed and decomposed forms, because a title may be stored with either. */
function addBeginning(beginnings: Set<string>, written: string): void {
  const [first = ''] = written;
  const rest = written.slice(first.length);
  for (const letter of new Set([first.toLowerCase(), ...(first > '\x7f' ? [first.toUpperCase()] : [])])) {
    const beginning = (letter + rest).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
    beginnings.add(beginning.normalize('NFC')).add(beginning.normalize('NFD'));
  }
}

/** Returns the name with the longest ending that the text has too. */
function endingOf(names: readonly Name[] | undefined, text: string, end: number): Name | undefined {
  let longest: Name | undefined;
  for (const name of names ?? []) {
    if (name.ending.length < (longest?.ending.length ?? 0)) continue;
    if (text.startsWith(name.ending, end) && endsAlone(text, end + name.ending.length)) longest = name;
  }
  return longest;
}

/** Characters that join words: a name next to such a character is part of a longer name, an address or a path. */
const JOINS = /[-\u2010\u2011_/\\@.:#+&=~%]/;
const WORD = /[\p{L}\p{N}\p{M}_]/u;

function beginsAlone(text: string, start: number): boolean {
  const before = text.charAt(start - 1);
  return !(JOINS.test(before) && WORD.test(text.charAt(start - 2))) && !/[#@/\\_~$]/.test(before);
}

function endsAlone(text: string, end: number): boolean {
  const after = text.charAt(end);
  if (/[+#_]/.test(after) || /\p{M}/u.test(after)) return false;
  return !(JOINS.test(after) && WORD.test(text.charAt(end + 1)));
}

function unitsOf(text: string): Unit[] {
  const units: Unit[] = [];
  const add = (start: number, end: number) => {
    units.push({ start, end, key: text.slice(start, end).normalize('NFC').toLowerCase() });
  };
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (!isUnspaced(run)) {
      add(index, index + run.length);
      continue;
    }
    let at = index;
    let wordStart = index;
    for (const character of run) {
      const end = at + character.length;
      if (isUnspaced(character)) {
        if (at > wordStart) add(wordStart, at);
        add(at, end);
        wordStart = end;
      }
      at = end;
    }
    if (at > wordStart) add(wordStart, at);
  }
  return units;
}

/** Ignores the case of the first letter, which depends on the position in the sentence. */
function keyOf(words: string): string {
  const [first = ''] = words;
  return first.toLowerCase() + words.slice(first.length);
}
